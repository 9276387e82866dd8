"""The engine for many machines: Ray Data reads the shards on the cluster, and model actors predict their chunks."""
