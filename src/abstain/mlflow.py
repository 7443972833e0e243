"""MLflow: a classifier with its selector as a model, and what was measured of it as metrics and artefacts.

The logged model holds an ONNX graph or a scikit-learn estimator written by skops, and the selector's file. Nothing in
it is pickled, and loading it runs no code but abstain's.
"""

import re
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np

from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain.collect import OnnxModel, SklearnModel
from abstain.collect.onnx_model import TYPES
from abstain.collect.sklearn_model import from_spec
from abstain.evaluation import Evaluation
from abstain.selector import Certificate, Selector
from abstain.selector.shipped_model import check_model, model_outputs

mlflow = require("mlflow", extra="mlflow", feature="abstain.mlflow")

GRAPH, ESTIMATOR, SELECTOR = "model.onnx", "model.skops", "selector.abstain"
ANY, GROUP = -1, "group"


def log_model(
    model: str | PathLike[str] | Any,
    selector: Selector,
    /,
    *,
    name: str = "model",
    registered_model_name: str | None = None,
) -> Any:
    """Log a classifier with its selector to the active run, as a model of MLflow that abstains.

    ``mlflow.pyfunc.load_model(info.model_uri).predict(x)`` gives a data frame with the columns prediction, confidence,
    accepted and reason, as `Selector.decide` does; ``mlflow models serve`` serves it. Signature and requirements are
    set. Where each group of rows has its own threshold, the parameter ``group`` names them: ``predict(x, {"group":
    ["north", "south"]})``, or a list of one name for all rows.

    Parameters
    ----------
    model : path or scikit-learn classifier
        The .onnx file, or a fitted classifier of scikit-learn, which skops must be able to write.
    selector : Selector
        The selector; its score must be one that can be computed from the model's logits and features.
    name : str
        The name of the logged model.
    registered_model_name : str, optional
        Under which it is also registered.

    Returns
    -------
    ModelInfo
        MLflow's own, with ``model_uri``.

    Examples
    --------
    >>> info = log_model("model.onnx", selector)  # doctest: +SKIP
    >>> mlflow.pyfunc.load_model(info.model_uri).predict(x)["accepted"]  # doctest: +SKIP
    """
    with TemporaryDirectory() as folder:
        data = Path(folder, "data")
        data.mkdir()
        is_graph = isinstance(model, str | PathLike)
        (_save_graph if is_graph else _save_estimator)(model, data)
        selector.save(data / SELECTOR)
        loaded = _load_pyfunc(str(data))  # refuses what could not be loaded again
        return mlflow.pyfunc.log_model(
            name=name,
            loader_module=__name__,
            data_path=str(data),
            signature=mlflow.models.ModelSignature(loaded.inputs, _outputs_schema(selector), loaded.parameters),
            pip_requirements=_requirements("onnx" if is_graph else "sklearn"),
            metadata={"selector": selector.digest, "guarantee": selector.threshold.words},
            registered_model_name=registered_model_name,
        )


def log_evaluation(evaluation: Evaluation, /, *, folder: str = "abstain") -> None:
    """Log an evaluation to the active run: a metric ``aurc/MIX/ALPHA/SCORE`` for each row, all rows, and the page.

    Characters that MLflow does not allow in a metric's name are replaced by "-": ``in+cov`` is ``in-cov``.

    Parameters
    ----------
    evaluation : Evaluation
        What `abstain.evaluate` returned.
    folder : str
        Where the artefacts evaluation.json and evaluation.html go.
    """
    rows = evaluation.rows
    mlflow.log_metrics(
        {_metric_name("aurc", row["mix"], f"{row['alpha']:g}", row["score"]): float(row["aurc"]) for row in rows}
    )
    mlflow.log_dict({"n": evaluation.n, "rows": rows}, f"{folder}/evaluation.json")
    _log_page(evaluation, f"{folder}/evaluation.html")


def log_certificate(certificate: Certificate, /, *, folder: str = "abstain") -> None:
    """Log a certificate to the active run: the file itself, its page, and its verdict as the tag ``abstain.verdict``.

    Parameters
    ----------
    certificate : Certificate
        What `abstain.certify` returned.
    folder : str
        Where the artefacts certificate.json and certificate.html go.
    """
    mlflow.set_tag("abstain.verdict", certificate.verdict)
    mlflow.log_text(certificate.to_json(), f"{folder}/certificate.json")
    _log_page(certificate, f"{folder}/certificate.html")


def _load_pyfunc(path: str) -> "LoggedModel":
    """The logged model in a folder; MLflow calls it."""
    folder = Path(path)
    graph = folder / GRAPH
    model = OnnxModel(graph) if graph.exists() else from_spec(str(folder / ESTIMATOR), None)  # type: ignore[arg-type]
    return LoggedModel(model, Selector.load(folder / SELECTOR))


@final
class LoggedModel:
    """A model and its selector as MLflow calls them."""

    def __init__(self, model: OnnxModel | SklearnModel, selector: Selector, /) -> None:
        self.model, self.selector, self.head = model, selector, model.head()
        classes = getattr(model.estimator, "classes_", None) if isinstance(model, SklearnModel) else None
        check_model(selector, self.head, n_classes=None if classes is None else len(classes))

    @property
    def inputs(self) -> Any:
        """MLflow's schema of what the model takes."""
        return _graph_schema(self.model) if isinstance(self.model, OnnxModel) else _estimator_schema(self.model)

    @property
    def parameters(self) -> Any:
        """MLflow's schema of parameters: the group of each row, or of all, where each group has a threshold."""
        if not _has_groups(self.selector):
            return None
        return mlflow.types.ParamSchema([mlflow.types.ParamSpec(GROUP, "string", [], (ANY,))])

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """The decisions as a data frame of Pandas."""
        pandas = require("pandas", extra="mlflow", feature="abstain.mlflow")
        logits, features = self._run(model_input)
        groups = self._groups(len(logits), (params or {}).get(GROUP))
        decided = self.selector.decide(model_outputs(self.selector, logits, features, self.head, domain=groups))
        return pandas.DataFrame({name: decided[name] for name in ("prediction", "confidence", "accepted", "reason")})

    def _groups(self, n: int, given: Any) -> list[str] | None:
        if not _has_groups(self.selector):
            return None
        names = [] if given is None else np.atleast_1d(given).tolist()
        if len(names) not in (1, n):
            raise InvalidInputError(
                f"`params` must have `{GROUP}`, one for each of {n} rows or one for all, since each group has its own "
                f"threshold, got {len(names)}."
            )
        return names if len(names) == n else names * n

    def _run(self, model_input: Any) -> tuple[Any, Any]:
        if isinstance(self.model, SklearnModel):
            return self.model.on(model_input, with_features=self.selector.needs_head)
        return self.model.run(model_input.to_numpy() if hasattr(model_input, "to_numpy") else model_input)


def _has_groups(selector: Selector) -> bool:
    """Whether each group of rows has a threshold of its own; predicted classes are known without being named."""
    return selector.groups is not None and not selector.groups.is_by_class


def _save_graph(file: str | PathLike[str], folder: Path) -> None:
    """The graph with all its weights in one file."""
    onnx = require("onnx", extra="onnx", feature="Logging ONNX graphs")
    from abstain.collect.onnx_head import load_onnx

    onnx.save(load_onnx(file), folder / GRAPH)


def _save_estimator(estimator: Any, folder: Path) -> None:
    skops = require("skops.io", extra="sklearn", feature="Logging scikit-learn models")
    SklearnModel(estimator)  # an error for what is no classifier
    skops.dump(estimator, folder / ESTIMATOR)


def _graph_schema(model: OnnxModel) -> Any:
    """Tensors as the graph declares them; the only one has no name, so that a plain array is taken."""
    entries = model.session.get_inputs()
    tensors = [
        mlflow.types.TensorSpec(
            np.dtype(TYPES[entry.type]),
            tuple(ANY if row == 0 or not isinstance(size, int) else size for row, size in enumerate(entry.shape)),
            entry.name if len(entries) > 1 else None,
        )
        for entry in entries
    ]
    return mlflow.types.Schema(tensors)


def _estimator_schema(model: SklearnModel) -> Any:
    """Columns by name where the estimator was fitted on a data frame, else rows of numbers."""
    names = getattr(model.estimator, "feature_names_in_", None)
    if names is not None:
        return mlflow.types.Schema([mlflow.types.ColSpec("double", str(name)) for name in names])
    return mlflow.types.Schema(
        [mlflow.types.TensorSpec(np.dtype(np.float64), (ANY, int(getattr(model.estimator, "n_features_in_", ANY))))]
    )


def _outputs_schema(selector: Selector) -> Any:
    kinds = {"prediction": "string" if selector.class_names else "long"}
    kinds |= {"confidence": "double", "accepted": "boolean", "reason": "string"}
    return mlflow.types.Schema([mlflow.types.ColSpec(kind, name) for name, kind in kinds.items()])


def _requirements(extra: str) -> list[str]:
    """What a server installs: abstain with what reads the model, and the estimator's own library as it is here."""
    own = [f"scikit-learn=={version('scikit-learn')}"] if extra == "sklearn" else []
    return [f"abstain[mlflow,{extra}]=={version('abstain')}", *own]


def _metric_name(*parts: str) -> str:
    return "/".join(re.sub(r"[^\w\-. ]", "-", part) for part in parts)


def _log_page(result: Any, file: str) -> None:
    with TemporaryDirectory() as folder:
        page = Path(folder, Path(file).name)
        result.to_html(page)
        mlflow.log_artifact(str(page), str(Path(file).parent))
