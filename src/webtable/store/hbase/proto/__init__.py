"""The messages of HBase's RPC that this client uses, and the code generated from them.

After a change of a `.proto` file, from the project's root:

    python -m grpc_tools.protoc -I src --python_out=src --pyi_out=src \\
        src/webtable/store/hbase/proto/*.proto

The generated code needs a protobuf runtime that is not older than the compiler, see the number at the
head of each file. A test compares all messages with those of HBase itself.
"""
