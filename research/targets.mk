# Builds of the bundled models and their measurements. Included by the Makefile: make model DATA=... RUNS=...
# The encoder that the models start from, the resumable results of training, and where models go.
ENCODER ?= .cache/minilm
RUNS ?= runs/sci
MODELS ?= sciextract/bundled
# The plan of make model: sci-4 is what is bundled; sci-2 and sci-1 are earlier editions.
PLAN ?= sci-4
# More words for python -m research.models, e.g. MAKE_ARGS="--minutes 10".
MAKE_ARGS ?=

# Minutes that make gpu-edition may take on the GPU.
MINUTES ?= 9

.PHONY: model model-base model-bio model-science gpu-edition ladder processors

model: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors .cache/mpnet/model.safetensors ## Train the bundled model (DATA=... ENCODER=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.models $(PLAN) --encoder minilm=$(ENCODER) --encoder mpnet=.cache/mpnet --data $(DATA) --runs $(RUNS) --output $(MODELS) $(MAKE_ARGS)

model-base: RUNS = runs/sci-base
model-base: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors .cache/mpnet/model.safetensors ## Train the base model and build its wheel (DATA=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.models sci-base --encoder minilm=$(ENCODER) --encoder mpnet=.cache/mpnet --data $(DATA) --runs $(RUNS) --output $(RUNS)/models $(MAKE_ARGS)
	@test ! -f $(RUNS)/models/sci-base/manifest.json || { $(IN_DEV) python tools/model_wheel.py models/sci-base $(RUNS)/models/sci-base dist; }

model-bio: RUNS = runs/bio
model-bio: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors ## Train the biomedical model (DATA=... ENCODER=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.partial_labels.make_bio --encoder $(ENCODER) --data $(DATA) --runs $(RUNS) --output $(MODELS)/bio

model-science: RUNS = runs/science
model-science: $(DEV_ENV)/.installed ## Train the model of all other sciences from sci (DATA=... RUNS=...); stops and goes on
	@for part in 0 1 2 all; do $(IN_DEV) python -m research.science train $$part --data $(DATA) --run $(RUNS) || exit 1; done
	@$(IN_DEV) python -m research.science finish --data $(DATA) --run $(RUNS) --output $(MODELS)/science

gpu-edition: RUNS = runs/gpu-edition
gpu-edition: $(DEV_ENV)/.installed .cache/mpnet/model.safetensors ## Make a fifth edition of sci on a GPU (DATA=... RUNS=... MINUTES=9); goes on after a stop
	@test -f $(RUNS)/packed/.whole || { $(IN_DEV) python -m research.gpu_edition pack $(RUNS)/parts --data $(DATA) --encoder .cache/mpnet && mkdir -p $(RUNS)/packed && cat $(RUNS)/parts/part-* | tar xz -C $(RUNS)/packed && touch $(RUNS)/packed/.whole; }
	@$(IN_DEV) python -m research.gpu_edition make $(RUNS)/packed --runs $(RUNS) --output $(RUNS)/returned --minutes $(MINUTES) $(MAKE_ARGS)
	@cat $(RUNS)/returned/part-* | tar xz -C $(RUNS)/returned
	@$(IN_DEV) python -m research.gpu_edition finish $(RUNS)/returned --data $(DATA) --output $(RUNS)/models

ladder: $(DEV_ENV)/.installed $(ENCODER)/model.safetensors ## Train models of several sizes and measure them (DATA=... RUNS=...); stops and goes on
	@$(IN_DEV) python -m research.models ladder --encoder minilm=$(ENCODER) --data $(DATA) --runs $(RUNS) --output $(RUNS)-ladder $(MAKE_ARGS)
	@$(IN_DEV) python -m research.size_ladder --models $(RUNS)-ladder --texts $(DATA)/scierc/dev.jsonl --output research/images/ladder $(BENCH_ARGS)

processors: $(DEV_ENV)/.installed ## Compare int8 predictions with those of an emulated processor without VNNI (DATA=... BENCH_ARGS="...")
	@$(IN_DEV) python -m research.processors $(DATA)/scierc/dev.jsonl $(BENCH_ARGS)

.cache/minilm/model.safetensors: | $(DEV_ENV)/.installed
	@$(IN_DEV) python tools/fetch_encoder.py .cache/minilm

.cache/mpnet/model.safetensors: | $(DEV_ENV)/.installed
	@$(IN_DEV) python tools/fetch_encoder.py .cache/mpnet mpnet
