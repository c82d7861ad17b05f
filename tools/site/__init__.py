"""Generated pages of the site: `make docs`.

`python -m tools.site` writes these pages next to the handwritten pages: `docs/reference` from the
registries of the engine, `docs/gallery` from scenarios, `docs/results` from studies,
`docs/notebooks` from notebooks, parts of the first page in `docs/home`, and, in `docs/static`,
`llms.txt` and the playground's engine.
"""
