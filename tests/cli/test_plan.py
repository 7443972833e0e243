import json

import numpy as np
import pytest


def test_the_table_says_how_many_are_needed(run, tmp_path):
    done = run("plan", "--risk", "0.02", "--coverage", "0.6", "--error-rate", "0.01", "--figure", tmp_path / "plan.png")
    assert done.returncode == 0, done.stderr
    assert "6,455" in done.stdout
    assert "At least 149 accepted samples without a single error" in " ".join(done.stdout.split())
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.png"]


def test_json_is_one_document_both_ways(run):
    needed = json.loads(run("plan", "--risk", "0.05", "--delta", "0.1", "--json").stdout)
    assert {row["coverage"] for row in needed["rows"]} == {0.4, 0.6, 0.9}
    reach = json.loads(run("plan", "--n", "500", "--json").stdout)
    assert all(0 < row["risk"] < 1 for row in reach["rows"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "`--risk` or `--n` must be given"),
        (("--risk", "0.02", "--error-rate", "0.05"), "`error_rate` must be at least 0 and below `risk`"),
        (("--n", "5", "--figure", "x.png"), "`--figure` must come without `--n`"),
        (
            ("--risk", "0.1", "--figure", "x.png", "--label-share", "0.7"),
            "`--label-share` must be left out with `--figure`",
        ),
        (("--risk", "0.1", "--n", "500", "--label-share", "0.7"), "`--label-share` must be left out with `--n`"),
        (("--n", "500", "--risk", "0.1", "--coverage", "0.6"), "`--coverage` must be left out with `--risk` and `--n`"),
    ],
)
def test_what_cannot_be_planned_is_one_line(run, options, message):
    done = run("plan", *options)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--coverage", "0.6"),
        ("--error-rate", "0.01"),
        ("--power", "0.9"),
        ("--label-share", "1"),
        ("--figure", "x.png"),
    ],
)
def test_what_a_pilot_tells_by_itself_is_refused_with_it(run, tmp_path, option, value):
    (tmp_path / "pilot.csv").write_text("confidence,error\n" + "".join(f"0.{k},0\n" for k in range(100, 300)))
    done = run("plan", "--risk", "0.05", "--pilot", tmp_path / "pilot.csv", option, value)
    assert done.returncode == 1
    assert done.stderr.startswith(f"abstain: `{option}` must be left out with `--pilot`")
    assert done.stderr.count("\n") == 1


def test_a_number_of_rows_and_a_risk_tell_the_coverage_it_takes(run):
    document = json.loads(run("plan", "--n", "4000", "--risk", "0.02", "--error-rate", "0.005", "--json").stdout)
    assert document["rows"] == [{"error_rate": 0.005, "coverage": 0.305}]
    printed = " ".join(run("plan", "--n", "4000", "--risk", "0.02").stdout.split())
    assert " 0.005 30.5% " in printed
    assert " 0.015 not achievable " in printed
    assert "if errors get rarer with confidence" in printed


def test_a_range_of_rows_is_printed_and_labels_above_a_share_are_fewer(run):
    options = ("plan", "--risk", "0.01", "--delta", "0.1", "--coverage", "0.55", "--error-rate", "0.005", "--json")
    rows = {row["coverage"]: row for row in json.loads(run(*options).stdout)["rows"]}
    assert rows[0.55]["n_rising"] < rows[0.55]["n"]
    fewer = json.loads(run(*options, "--label-share", "0.6").stdout)["rows"]
    assert next(row["n"] for row in fewer if row["coverage"] == 0.55) < 0.65 * rows[0.55]["n"]


def test_a_pilot_tells_what_calibrations_will_certify(run, tmp_path):
    rng = np.random.default_rng(0)
    u = rng.random(200)
    rows = "".join(
        f"{1 - each:.6f},{int(wrong)}\n" for each, wrong in zip(u, rng.random(200) < 0.3 * u**2, strict=True)
    )
    (tmp_path / "pilot.csv").write_text("confidence,error\n" + rows)
    document = json.loads(
        run("plan", "--risk", "0.05", "--pilot", tmp_path / "pilot.csv", "--n", "300", "--json").stdout
    )
    assert document["pilot"] == 200
    assert 0 <= document["rows"][0]["low"] <= document["rows"][0]["high"] <= 1
    assert "Predicted from 200 samples" in run("plan", "--risk", "0.05", "--pilot", tmp_path / "pilot.csv").stdout


def test_a_pilot_whose_ids_repeat_is_refused(run, tmp_path):
    lines = [f"{i // 2},0.{i:02d},{int(i > 5)}" for i in range(40)]
    (tmp_path / "pilot.csv").write_text("\n".join(["id,confidence,correct", *lines]))
    done = run("plan", "--risk", "0.1", "--pilot", tmp_path / "pilot.csv")
    assert done.returncode == 1
    assert (
        "`--pilot` must have one row per id, since the plan is for independent rows, got 40 rows of 20 ids."
        in done.stderr
    )


@pytest.mark.parametrize("column", ["correct", "loss"])
def test_a_floor_is_printed_and_calibrate_takes_rows_without_a_label_below_it(column, run, tmp_path):
    u = np.random.default_rng(0).random(1500)
    wrong = np.random.default_rng(1).random(1500) < np.where(u < 0.6, 0.01, 0.6)
    table = tmp_path / "rows.csv"
    table.write_text("confidence\n" + "".join(f"{1 - x!r}\n" for x in u.tolist()))
    planned = run("plan", "--risk", 0.05, "--label-share", 0.6, "--unlabelled", table, "--json")
    floor = json.loads(planned.stdout)["floor"]
    shown = run("plan", "--risk", 0.05, "--label-share", 0.6, "--unlabelled", table, width=300).stdout
    assert f"label the 900 with confidence above {floor!r} and leave the others empty" in shown
    cells = [f"{x * (0.8 if column == 'loss' else 1):g}" for x in wrong != (column == "correct")]
    rows = [f"{1 - x!r},{cell if 1 - x > floor else ''}\n" for x, cell in zip(u.tolist(), cells, strict=True)]
    table.write_text(f"confidence,{column}\n" + "".join(rows))
    calibrate = ("calibrate", table, "--risk", 0.05, "-o", tmp_path / "s.abstain")
    done = run(*calibrate, "--label-above", floor, width=500)
    assert "of 1,500 rows only the labels of the 900 with confidence above" in done.stdout
    assert (refused := run(*calibrate)).returncode == 1
    assert "column correct, got ''" in refused.stderr or "`losses` must be finite, got nan" in refused.stderr
    for command in (("evaluate", table), ("certify", tmp_path / "s.abstain", "--on", table), ("report", table)):
        assert run(*command).returncode != 0


def test_a_floor_needs_a_share(run, tmp_path):
    done = run("plan", "--risk", 0.05, "--unlabelled", tmp_path)
    assert "`--unlabelled` must come with `--risk` and `--label-share`" in done.stderr
