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
    pages = Pages("reference")
    algorithms.write(pages)
    queues.write(pages, examples)
    keys.write(pages, examples)
    columns.write(pages)
    commands.write(pages)
    python_api.write(pages)
    plots.write(pages)
    reference.write(pages)
    pages.close()
    of_gallery = Pages("gallery")
    gallery.write(of_gallery, examples)
    of_gallery.close()
    of_home = Pages("home")
    home.write(of_home)
    of_home.close()
    of_results = Pages("results")
    studies.write(of_results)
    of_results.close()
    of_notebooks = Pages("notebooks")
    notebooks.write(of_notebooks)
    of_notebooks.close()
    llms.write()
    playground.write(examples)
    count = sum(len(section.written) for section in (pages, of_gallery, of_results, of_notebooks))
    print(f"{count} pages in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
