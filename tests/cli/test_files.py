"""Files have the format of their suffix; suffixes that a command does not write are refused."""

import re
import zlib
from pathlib import Path

import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul.files.endings import EndingError
from longhaul.plots import Options


def fits(path: Path) -> bool:
    """Return true if the first bytes of a file are those of the format of its suffix."""
    begin = path.read_bytes()[:300].lstrip().lower()
    beginnings = {
        ".pdf": b"%pdf-", ".svg": b"<?xml", ".png": b"\x89png", ".html": b"<!doctype html",
        ".csv": b"", ".qlog": b"", ".gif": b"gif8",
    }  # fmt: skip
    return begin.startswith(beginnings[path.suffix]) and len(begin) > 0


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (("plot", "RUN", "cwnd"), "c.pdf"),
        (("plot", "RUN", "cwnd"), "c.png"),
        (("report", "RUN"), "r.html"),
        (("explore", "RUN"), "e.html"),
        (("animate", "RUN", "--seconds", "0.5"), "a.gif"),
        (("window", "reno", "--loss-every", "100", "--rounds", "40"), "w.pdf"),
        (("window", "reno", "--loss-every", "100", "--rounds", "40"), "w.html"),
        (("model", "laws", "reno", "cubic"), "l.pdf"),
        (("design", "3"), "d.csv"),
    ],
)
def test_a_file_is_what_its_name_says(
    words: tuple[str, ...], out: str, finished: longhaul.Results, cli: CommandLine, tmp_path: Path
) -> None:
    given = [str(finished.path) if word == "RUN" else word for word in words]
    ended = cli(*given, "--out", out)
    assert ended.returncode == 0, ended.stderr
    assert fits(tmp_path / out)


@pytest.mark.parametrize(
    ("words", "option", "out", "allowed"),
    [
        (("report", "RUN"), "--out", "r.pdf", ".html"),
        (("report", "RUN"), "--out", "r", ".html"),
        (("explore", "RUN"), "--out", "e.pdf", ".html"),
        (("plot", "RUN", "cwnd"), "--out", "c.html", ".svg, .png or .pdf"),
        (("plot", "RUN", "cwnd"), "--format", "eps", "svg, png or pdf"),
        (("animate", "RUN"), "--out", "a.png", ".gif or .mp4"),
        (("window", "reno"), "--out", "w.csv", ".svg, .png, .pdf or .html"),
        (("model", "laws"), "--out", "l.html", ".svg, .png or .pdf"),
        (("compare", "none.toml", "--with", "fluid"), "--plot", "f.html", ".svg, .png or .pdf"),
        (("analyze", "none.toml"), "--out", "a.eps", "a directory"),
        (("analyze", "none.toml", "components"), "--scores", "s.json", ".csv or .parquet"),
        (("campaign", "report", "none.toml"), "--html", "p.pdf", ".html"),
        (("campaign", "new"), "", "c.csv", ".toml"),
        (("design", "3"), "--out", "d.parquet", ".csv"),
        (("schema",), "--out", "s.yaml", ".json"),
        (("new",), "", "n.html", ".toml"),
        (("module", "build", "none.c"), "--out", "m.pdf", ".so"),
        (("study", "report", "c4-2026"), "--out", "s.pdf", ".html"),
        (("study", "run", "c4-2026"), "--out", "s.html", "a directory"),
        (("evaluate", "reno"), "--out", "e.html", "a directory"),
        (("run", "SMALL"), "--out", "r.pdf", "a directory"),
        (("demo",), "--out", "d.html", "a directory"),
        (("export", "RUN"), "--format", "xls", "qlog, mesonet or csv"),
        (("export", "RUN"), "--out", "x.csv", "a directory"),
    ],
)
def test_another_ending_is_refused_before_anything_is_computed(
    words: tuple[str, ...], option: str, out: str, allowed: str,
    finished: longhaul.Results, small: Path, cli: CommandLine, tmp_path: Path,
) -> None:  # fmt: skip
    files = {"RUN": str(finished.path), "SMALL": str(small)}
    given = [files.get(word, word) for word in words]
    before = sorted(tmp_path.iterdir())
    refused = cli(*given, *filter(None, [option]), out)
    assert refused.returncode == 2
    assert f"{out}: expected " in refused.stderr, refused.stderr
    assert allowed in refused.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_the_command_that_writes_an_ending_is_named(
    finished: longhaul.Results, cli: CommandLine
) -> None:
    assert (
        ".pdf is written by `longhaul plot`"
        in cli("report", str(finished.path), "--out", "r.pdf").stderr
    )
    with pytest.raises(EndingError, match=r"r\.pdf: expected a name that ends in \.html"):
        longhaul.report(finished, "r.pdf")
    with pytest.raises(EndingError, match=r"c\.eps: expected a name that ends in"):
        longhaul.plot(finished, "cwnd", "c.eps")


def test_a_run_directory_may_have_any_name(small: Path, cli: CommandLine, tmp_path: Path) -> None:
    for words in (
        ("run", str(small), "--out", "r1.5", "-q"),
        ("plot", "r1.5", "cwnd", "queue"),
        ("plot", "r1.5", "cwnd", "--out", "figures.v2"),
        ("compare", "r1.5"),
        ("report", "r1.5"),
        ("explore", "r1.5"),
        ("analyze", "r1.5", "steady"),
        ("export", "r1.5"),
    ):
        ended = cli(*words)
        assert ended.returncode == 0, ended.stderr
    written = {path.name for path in tmp_path.iterdir()}
    assert {"r1.5-cwnd.svg", "r1.5-queue.svg", "r1.5-explorer.html", "r1.5.qlog"} <= written
    assert (tmp_path / "figures.v2" / "r1.5-cwnd.svg").is_file()


@pytest.mark.parametrize(
    ("width", "points"),
    [("85mm", 240.9), ("8.5 cm", 240.9), ("3.5in", 252.0), ("column", 240.9), ("page", 504.6)],
)
def test_a_figure_has_the_width_that_is_asked_for(
    width: str, points: float, finished: longhaul.Results, finished_again: longhaul.Results,
    cli: CommandLine, tmp_path: Path,
) -> None:  # fmt: skip
    runs = [str(finished.path), str(finished_again.path)]
    ended = cli("plot", *runs, "cwnd", "--out", "c.pdf", "--width", width)
    assert ended.returncode == 0, ended.stderr
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", (tmp_path / "c.pdf").read_bytes())
    assert float(box) == pytest.approx(points, abs=0.1)


@pytest.mark.parametrize(
    "words",
    [
        ("window", "reno", "cubic", "--loss-every", "100", "--rounds", "20"),
        ("model", "response"),
        ("model", "parallel-tcp"),
        ("model", "laws", "reno", "cubic", "hstcp"),
    ],
    ids=lambda words: words[-1] if words[0] == "model" else words[0],
)
def test_every_command_that_draws_has_widths(
    words: tuple[str, ...], cli: CommandLine, tmp_path: Path
) -> None:
    ended = cli(*words, "--out", "w.pdf", "--width", "column")
    assert ended.returncode == 0, ended.stderr
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", (tmp_path / "w.pdf").read_bytes())
    assert float(box) == pytest.approx(240.9, abs=0.1)


def test_titles_are_broken_into_lines_where_a_figure_is_narrow(
    cli: CommandLine, tmp_path: Path
) -> None:
    words = ("window", "reno", "--loss-every", "1000", "--rounds", "20", "--out")
    for name, more in (("own.svg", ()), ("narrow.svg", ("--width", "60mm"))):
        assert cli(*words, name, *more).returncode == 0
    title = "one in 1,000 segments lost, round trip 100 ms"
    assert title in (tmp_path / "own.svg").read_text()
    assert title not in (tmp_path / "narrow.svg").read_text()


@pytest.mark.parametrize("width", ["85", "85px", "1mm", "wide"])
def test_a_width_that_is_none_is_refused(
    width: str, finished: longhaul.Results, cli: CommandLine
) -> None:
    refused = cli("plot", str(finished.path), "cwnd", "--width", width)
    assert refused.returncode == 2
    assert f"--width {width}: expected a length such as 85mm" in refused.stderr


def test_a_pdf_keeps_its_text_and_its_bytes(finished: longhaul.Results, tmp_path: Path) -> None:
    """Check that the text of a PDF can be searched, and that the same plot gives the same bytes.

    TrueType fonts map glyphs to characters; type 3 fonts do not.
    """
    for name in ("a.pdf", "b.pdf"):
        longhaul.plot(finished, "cwnd", tmp_path / name, Options(width_in=3.35))
    content = (tmp_path / "a.pdf").read_bytes()
    assert content == (tmp_path / "b.pdf").read_bytes()
    assert b"/CIDFontType2" in content
    assert b"/Type3" not in content
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    plain = [zlib.decompress(text) for text in streams if text[:1] == b"\x78"]
    assert any(b"beginbfchar" in text or b"beginbfrange" in text for text in plain)


def test_the_tables_of_a_run_are_exported_as_csv(
    finished: longhaul.Results, cli: CommandLine, tmp_path: Path
) -> None:
    ended = cli("export", str(finished.path), "--format", "csv", "--out", "tables")
    assert ended.returncode == 0, ended.stderr
    assert len(ended.stdout.split()) == len(finished.tables)
    flows = pl.read_csv(tmp_path / "tables" / "r1-flows.csv")
    assert flows.columns == finished.flows.columns
    assert flows["goodput_bps"].to_list() == pytest.approx(finished.flows["goodput_bps"].to_list())
