"""The engine on an HBase cluster: a native client, without gateway and without a JVM."""
