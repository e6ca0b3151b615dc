from webtable.store.hbase.proto import base_pb2 as _base_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetActiveMasterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetActiveMasterResponse(_message.Message):
    __slots__ = ("server_name",)
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    server_name: _base_pb2.ServerName
    def __init__(self, server_name: _Optional[_Union[_base_pb2.ServerName, _Mapping]] = ...) -> None: ...

class GetMetaRegionLocationsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetMetaRegionLocationsResponse(_message.Message):
    __slots__ = ("meta_locations",)
    META_LOCATIONS_FIELD_NUMBER: _ClassVar[int]
    meta_locations: _containers.RepeatedCompositeFieldContainer[_base_pb2.RegionLocation]
    def __init__(self, meta_locations: _Optional[_Iterable[_Union[_base_pb2.RegionLocation, _Mapping]]] = ...) -> None: ...

class GetBootstrapNodesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetBootstrapNodesResponse(_message.Message):
    __slots__ = ("server_name",)
    SERVER_NAME_FIELD_NUMBER: _ClassVar[int]
    server_name: _containers.RepeatedCompositeFieldContainer[_base_pb2.ServerName]
    def __init__(self, server_name: _Optional[_Iterable[_Union[_base_pb2.ServerName, _Mapping]]] = ...) -> None: ...

class MetaRegionServer(_message.Message):
    __slots__ = ("server",)
    SERVER_FIELD_NUMBER: _ClassVar[int]
    server: _base_pb2.ServerName
    def __init__(self, server: _Optional[_Union[_base_pb2.ServerName, _Mapping]] = ...) -> None: ...

class Master(_message.Message):
    __slots__ = ("master",)
    MASTER_FIELD_NUMBER: _ClassVar[int]
    master: _base_pb2.ServerName
    def __init__(self, master: _Optional[_Union[_base_pb2.ServerName, _Mapping]] = ...) -> None: ...
