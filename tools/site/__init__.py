"""The pages of the site that follow from the program: `make docs`.

`python -m tools.site` writes them next to the pages that are written by hand: `docs/reference` from the
registries of the engine, `docs/gallery` from scenarios, `docs/results` from studies, and `llms.txt`.
"""
