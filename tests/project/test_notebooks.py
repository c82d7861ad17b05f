"""The notebooks run, and give the tables and figures of their pages."""

import runpy
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("examples/notebooks/*.py"))
needs_marimo = pytest.mark.skipif(find_spec("marimo") is None, reason="needs marimo")


@needs_marimo
@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:marimo")
def test_a_notebook_runs(file: Path) -> None:
    if file.stem == "run_to_figure":
        pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
    plt.switch_backend("agg")
    outputs, names = runpy.run_path(str(file))["app"].run()
    given = [type(one).__name__ for one in outputs]
    assert given.count("Figure") == 1
    assert given.count("DataFrame") >= 2
    check(file.stem, names)
    plt.close("all")


def check(notebook: str, names: dict[str, object]) -> None:
    """Check the statements in a notebook's text with the values of its variables, `names`."""
    if notebook == "run_to_figure":
        medians = names["regrown"].groupby("name")["regrown_s"].median()  # type: ignore[attr-defined]
        assert 3 * medians["hstcp-0"] < medians["reno-0"]
    elif notebook == "sweep_with_intervals":
        first = names["gains"].row(0, named=True)  # type: ignore[attr-defined]
        assert 0 < first["gain from"] < first["gain"] < first["gain to"]
    else:
        shares = names["shares"]["share"].to_list()  # type: ignore[index]
        assert shares == sorted(shares)
        assert shares[0] < 0.5 < shares[-1]
