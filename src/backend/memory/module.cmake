# module.cmake: the memory backend needs nothing.
hf_backend(memory IF TRUE TABLES memory SCHEMES memory
  PROBES memory=memory: CONTRACT memory: USES rules)
