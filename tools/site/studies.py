"""Writer of the pages of results: the studies' READMEs and the list of changes."""

from collections.abc import Iterable

from tools.site.links import COPIED, within_site
from tools.site.markdown import DOCS, ROOT, Pages, page, section, table, toctree

STUDIES = ROOT / "reproductions/longhaul_studies"

COMPARISONS = (
    ("validation", "Longhaul against ns-2", "packet by packet, event by event where nothing is random"),
    ("linux", "The profile `linux` beside Linux 6.18", "56 recorded runs of a kernel"),
    ("linux-modules", "The profile `linux` beside the kernel's modules", "fourteen modules of Linux 6.1, run as they are"),
    ("linux-queues", "Queue disciplines beside the kernel's", "a million packets of five patterns, decision by decision"),
    ("response-functions", "Measured mean cwnd against the response function", "the law of each algorithm, at four loss rates"),
    ("coexistence", "Delay- and model-based algorithms against standard TCP", "what their authors say, and what happens here"),
    ("slow-starts", "How slow start ends", "five slow starts on paths that they do not know"),
    ("quic-stacks", "quinn over long fat paths", "real QUIC stacks beside TCP of this engine"),
    ("bbr3-dualpi2", "BBR v3 behind DualPI2", "beside CUBIC and Prague, with marks of L4S and without"),
    ("mesonet_validation", "MesoNet against NIST SP 500-282", "a network of hundreds of routers"),
    ("fluid-and-packets", "Fluid models against packets", "where closed forms and differential equations deviate"),
    ("speed", "Speed", "loss recovery, many flows, memory"),
)  # fmt: skip


def write(pages: Pages) -> None:
    """Write the pages of the studies and the index of the results."""
    names = []
    rows = []
    for readme, copy in COPIED.items():
        if not readme.is_relative_to(STUDIES):
            continue
        text = readme.read_text(encoding="utf-8")
        pages.write_text(f"studies/{copy.name}", within_site(text, readme.parent, copy.parent))
        names.append(copy.stem)
        rows.append(
            (f"[{text.splitlines()[0].removeprefix('# ')}](studies/{copy.name})", f"`{copy.stem}`")
        )
    changes = ROOT / "CHANGES.md"
    pages.write_text(
        "changes.md", within_site(changes.read_text(encoding="utf-8"), ROOT, DOCS / "results")
    )
    pages.write("index.md", _index(sorted(zip(rows, names, strict=True), key=lambda pair: pair[1])))


def _index(studies: Iterable[tuple[tuple[str, str], str]]) -> list[str]:
    studies = list(studies)
    comparisons = ((f"[{title}](../{name}.md)", text) for name, title, text in COMPARISONS)
    entries = [
        *(f"../{name}" for name, _, _ in COMPARISONS),
        "../studies",
        *(f"studies/{name}" for _, name in studies),
        "../published_analyses",
        "changes",
        "../upgrading",
    ]
    return [
        *page(
            "Results",
            "Validation of Longhaul, and studies made with it. Each page names the command that computes its numbers.",
        ),
        *section(
            "Compared with other simulators, a kernel and published laws",
            table(["page", ""], comparisons),
        ),
        *section(
            "Published evaluations repeated",
            "How a study works: [Studies](../studies.md). Their findings:",
            table(["study", "name"], (row for row, _ in studies)),
            "[Published analyses, repeated](../published_analyses.md) has the analyses of NIST SP 500-282.",
        ),
        *section(
            "Versions of the results",
            "[Changes](changes.md) says when numbers changed, by how much and why; [Upgrading](../upgrading.md) what to do about it.",
            toctree(entries, hidden=True),
        ),
    ]
