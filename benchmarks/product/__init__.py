"""The benchmark that guards the product: the registered model as served, beside alternatives."""
