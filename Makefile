# Figures of the embedded engine; docs/performance.md says what they mean.
#   make bench DOCS=10000000 SAVE=new.json COMPARE=old.json
DOCS ?= 1000000
RUNS ?= 1

.PHONY: bench
bench:
	go run ./internal/speed -docs $(DOCS) -runs $(RUNS) -breakdown $(if $(SAVE),-save $(SAVE)) $(if $(COMPARE),-compare $(COMPARE)) $(if $(ONLY),-only '$(ONLY)')
