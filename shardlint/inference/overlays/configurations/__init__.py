"""OmegaConf and hydra: configurations as trees, merged, resolved, and composed of YAML files.

Checked with OmegaConf 2.3 and hydra 1.3. `trees` and `interpolations` compute with plain trees, `objects`
makes a program's values of them and back, `yaml_files` reads files, `composition` follows lists of defaults.
"""
