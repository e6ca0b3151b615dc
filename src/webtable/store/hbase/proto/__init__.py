"""The messages of HBase's RPC that this client uses, and the code generated from them.

After a change of a `.proto` file, from the project's root:

    PROTO=src/webtable/store/hbase/proto
    python -m grpc_tools.protoc -I src --python_out=src --pyi_out=src $PROTO/*.proto

The generated code needs a protobuf runtime that is not older than the compiler: the number at the
head of each file, to be repeated in pyproject.toml. A test compares all messages with HBase's own.
"""
