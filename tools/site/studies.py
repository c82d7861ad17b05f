"""Writer of the pages of results: the studies' READMEs and the list of changes."""

from collections.abc import Mapping

from tools.site.links import COPIED, within_site
from tools.site.markdown import DOCS, ROOT, Pages, page, section, table, toctree

STUDIES = ROOT / "reproductions/longhaul_studies"

COMPARISONS = (
    ("validation", "Longhaul against ns-2", "event by event in cases without randomness, otherwise means over seeds"),
    ("linux", "The profile `linux` against Linux 6.18", "56 recorded runs of a kernel"),
    ("linux-modules", "The profile `linux` against the kernel's modules", "fourteen unchanged modules of Linux 6.1"),
    ("linux-queues", "Queue disciplines against the kernel's", "decisions about a million packets in each of five arrival patterns"),
    ("response-functions", "Measured mean cwnd against the response function", "each algorithm's mean window at four loss rates"),
    ("coexistence", "Delay- and model-based algorithms against standard TCP", "queues and shares of two flows, alone and against standard TCP"),
    ("slow-starts", "Ends of slow start", "windows, losses and delivered data of six slow starts"),
    ("quic-stacks", "quinn over long fat paths", "a real QUIC stack against TCP of this engine"),
    ("bbr3-dualpi2", "BBR v3 behind DualPI2", "against CUBIC and Prague, with and without L4S"),
    ("mesonet_validation", "MesoNet against NIST SP 500-282", "a network of hundreds of routers"),
    ("fluid-and-packets", "Fluid models against packets", "windows, queues and loss rates by fluid models and by simulated packets"),
    ("speed", "Speed", "loss recovery, many flows, memory"),
)  # fmt: skip


def write(pages: Pages) -> None:
    """Write a page for each study, and the index of the results."""
    titles = {}
    for readme, copy in COPIED.items():
        if readme.is_relative_to(STUDIES):
            text = readme.read_text(encoding="utf-8")
            pages.write_text(f"studies/{copy.name}", within_site(text, readme.parent, copy.parent))
            titles[copy.stem] = text.splitlines()[0].removeprefix("# ")
    changes = ROOT / "CHANGES.md"
    pages.write_text(
        "changes.md", within_site(changes.read_text(encoding="utf-8"), ROOT, DOCS / "results")
    )
    pages.write("index.md", _index(dict(sorted(titles.items()))))


def _index(titles: Mapping[str, str]) -> list[str]:
    """Return the lines of the index; `titles` has the studies' titles by their names."""
    studies = ((f"[{title}](studies/{name}.md)", f"`{name}`") for name, title in titles.items())
    comparisons = ((f"[{title}](../{name}.md)", text) for name, title, text in COMPARISONS)
    entries = [
        *(f"../{name}" for name, _, _ in COMPARISONS),
        "../studies",
        *(f"studies/{name}" for name in titles),
        "../published_analyses",
        "changes",
        "../upgrading",
    ]
    return [
        *page(
            "Results",
            "Comparisons of Longhaul with other implementations, repeated studies, and versions of the results. Each page names the command that computes its numbers.",
        ),
        *section(
            "Comparisons with other simulators, a kernel and published laws",
            table(["page", ""], comparisons),
        ),
        *section(
            "Repeated published evaluations",
            "[Studies](../studies.md) explains the structure of a study. The pages of the table have the findings.",
            table(["study", "name"], studies),
            "[Published analyses, repeated](../published_analyses.md) has the analyses of NIST SP 500-282.",
        ),
        *section(
            "Versions of the results",
            "[Changes](changes.md) lists each change of numbers with its version, size and reason; [Upgrading](../upgrading.md) explains the upgrade to a new version.",
            toctree(entries, hidden=True),
        ),
    ]
