# Measurements, with results in docs/benchmarks.md and research/notes. Included by the Makefile: make bench-annotate BENCH_ARGS="...".
BENCH_ARGS ?=

.PHONY: bench-annotate bench-text bench-store bench-kills bench-tui bench-fuzz bench-active bench-learning bench-attributes bench-vocabularies bench-late-type bench-split-type bench-divided-work bench-training bench-scale

bench-annotate: $(DEV_ENV)/.installed ## Measure the speed of annotate (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/annotate.py $(BENCH_ARGS)

bench-text: $(DEV_ENV)/.installed ## Compare tokens and sentences with other libraries (DATA=...)
	@$(IN_DEV) python benchmarks/text_layer.py --data $(DATA) $(BENCH_ARGS)

bench-store: $(DEV_ENV)/.installed ## Measure the project file: import, actions, search, export (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/store.py $(BENCH_ARGS)

bench-kills: $(DEV_ENV)/.installed ## Kill a working process 200 times and look at what is left (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/store_kills.py $(BENCH_ARGS)

bench-tui: $(DEV_ENV)/.installed ## Measure the review desk in real terminals: keys, starts, memory (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/tui.py $(BENCH_ARGS)

bench-fuzz: $(DEV_ENV)/.installed ## Press 50,000 random keys on the whole desk (BENCH_ARGS="--seed 1")
	@$(IN_DEV) python benchmarks/tui_fuzz.py --jobs $(JOBS) $(BENCH_ARGS)

bench-active: $(DEV_ENV)/.installed ## Simulate active learning with adapters (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python -m research.simulations.active_learning --data $(DATA) $(BENCH_ARGS)

bench-attributes: $(DEV_ENV)/.installed ## Measure what is learned of attributes of mentions and abstracts (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/attributes.py --data $(DATA) $(BENCH_ARGS)

bench-vocabularies: $(DEV_ENV)/.installed ## Measure candidates for mentions in vocabularies, and their time (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/vocabularies.py --data $(DATA) $(BENCH_ARGS)

bench-late-type: $(DEV_ENV)/.installed ## Measure what is learned of a type that is added after 20 of 25 abstracts (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/late_type.py --data $(DATA) $(BENCH_ARGS)

bench-split-type: $(DEV_ENV)/.installed ## Measure how often the first of two suggested types is right when a type is split (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/split_type.py --data $(DATA) $(BENCH_ARGS)

bench-divided-work: $(DEV_ENV)/.installed ## Measure what is learned from the merged work of two and three annotators (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/divided_work.py --data $(DATA) $(BENCH_ARGS)

bench-learning: $(DEV_ENV)/.installed ## Measure what suggestions learn from 3 to 50 finished abstracts (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/learning.py --data $(DATA) $(BENCH_ARGS)

bench-training: $(DEV_ENV)/.installed ## Measure training on this machine's GPU or processor (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/training_speed.py $(BENCH_ARGS)

bench-scale: $(DEV_ENV)/.installed ## Measure many workers, their memory, how cost grows (BENCH_ARGS="...")
	@$(IN_DEV) python benchmarks/scale.py $(BENCH_ARGS)
