# module.cmake: the zookeeper store needs no library: the codec is ours.
hf_backend(zookeeper MODULE IF TRUE
  SCHEMES zookeeper zk
  WITHOUT "build holdfast again"
  PROBES zookeeper=zookeeper://127.0.0.1:1/
  CONTRACT zookeeper
  USES net rules backend/sql)
