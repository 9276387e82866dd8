"""Models from data sets that each teach some types, such as the bundled biomedical one."""
