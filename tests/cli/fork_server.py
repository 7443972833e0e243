"""Run commands, one JSON line each on standard input, in forks of a process that has imported them."""

import json
import os
import sys
import traceback


def import_command():
    """Import what most commands use, and load the compiled kernels by using them once on few rows."""
    import altair  # noqa: F401
    import jinja2  # noqa: F401
    import numpy as np
    import rich.progress  # noqa: F401

    import abstain
    import abstain.cli.app
    import abstain.cli.watch_view
    import abstain.decision_log
    import abstain.evaluation.page
    import abstain.scale
    import abstain.selector.cascades
    import abstain.sketch
    from abstain.monitor import DeploymentMonitor, Watch
    from abstain.monitor.row import Row

    rows = np.arange(60)
    outputs = abstain.Outputs(logits=np.eye(3)[rows % 3] * (1 + rows[:, None] % 7), labels=rows % 4 % 3)
    str(abstain.evaluate(outputs))
    selector = abstain.calibrate(outputs, coverage=0.5)
    watch = Watch(DeploymentMonitor.of(selector))
    watch.observe([Row(confidence=0.5, error=False, id="a")])
    watch.to_json()


def run(call):
    """Become the command: its streams, folder and environment; never returns."""
    for descriptor, path in enumerate(call["streams"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    os.dup2(os.open(call["input"], os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, encoding="utf-8")  # the former one has buffered calls
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding=os.environ.get("PYTHONIOENCODING", "utf-8"))
    sys.argv = ["-c", *call["arguments"]]
    code = 0
    try:
        from abstain.cli import main

        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    import_command()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
