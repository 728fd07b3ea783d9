"""Parts that Flax's APIs share: shapes of layers, boxes and metadata of parameters, train states, classes of
the program that derive from layers."""
