"""The joint model: finds the aspects of a text, labels them, and says why, in one pass of an encoder.

`pieces` and `runtime` answer with numpy; `model` and `training` need torch.
"""
