// The Go side of `make interop` on ZooKeeper: a program on go-zookeeper.
module peer

go 1.19

require github.com/go-zookeeper/zk v1.0.4
