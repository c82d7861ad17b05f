"""Generated pages of the site: `make docs`.

`python -m tools.site` writes them next to the handwritten pages: `docs/reference` from the
registries of the engine, `docs/gallery` from scenarios, `docs/results` from studies, and
`llms.txt`.
"""
