"""Command `python -m tools.site`, which writes the generated pages of the site (`make docs`)."""

import time

from tools.site import (
    algorithms,
    columns,
    commands,
    gallery,
    home,
    keys,
    llms,
    notebooks,
    playground,
    plots,
    python_api,
    queues,
    reference,
    studies,
)
from tools.site.examples import Examples
from tools.site.markdown import Pages


def main() -> None:
    """Write all generated pages of the site."""
    started = time.monotonic()
    examples = Examples()
    names = ("reference", "gallery", "home", "results", "notebooks")
    sections = pages, of_gallery, of_home, of_results, of_notebooks = [*map(Pages, names)]
    algorithms.write(pages)
    queues.write(pages, examples)
    keys.write(pages, examples)
    columns.write(pages)
    commands.write(pages)
    python_api.write(pages)
    plots.write(pages)
    reference.write(pages)
    gallery.write(of_gallery, examples)
    home.write(of_home)
    studies.write(of_results)
    notebooks.write(of_notebooks)
    for section in sections:
        section.close()
    llms.write()
    playground.write(examples)
    count = sum(len(section.written) for section in (pages, of_gallery, of_results, of_notebooks))
    print(f"{count} pages in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
