"""Training of classifiers that select: SelectiveNet, objectives that promote margins, and those they are compared to.

| file | its one job |
|---|---|
| `networks/` | bodies: from pixels to features |
| `network.py`, `selective_net.py`, `additive_margin.py` | bodies with heads |
| `objective.py` and a file for each objective | losses, with the network that each needs |
| `recipe.py`, `schedule.py`, `augmentation.py` | everything a run is told |
| `pixels.py` | from bytes to what a body takes |
| `training.py`, `run.py`, `checkpoint.py` | a run, which goes on after any interruption and gives the same bytes |
| `image_stream.py` | images that stay on disk until a batch asks for them |
| `network_file.py` | the network of a run from its file alone |
| `predict.py` | from a trained network to `Outputs` |
| `paper.py` | what the paper trained |
"""
