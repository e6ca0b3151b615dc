// The Java client's part in the group `hbase`: reads commands, does the work, and prints the amount of work.
//
// java -cp JARS HBaseBench.java QUORUM PORT PARENT ROWS PAGES WRITES
//
// A command is one line: an operation, and for most operations the number of a list of row keys
// that an earlier `keys NUMBER KEY ...` sent. The response is a line with one number. The calls are
// those that the documentation of HBase's client recommends; docs/develop/benchmarks.md lists them.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FilterList;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.filter.KeyOnlyFilter;

public class HBaseBench {
  private static final byte[] FAMILY = bytes("f");
  private static final byte[] COUNTER = bytes("n");
  private static final byte[] STATE = bytes("state");
  private static final byte[][] QUALIFIERS = {
    bytes("q0"), bytes("q1"), bytes("q2"), bytes("q3"), bytes("q4")
  };
  private static final byte[] VALUE = bytes("0123456789abcdef0123456789abcdef");
  private static final int THREADS = 16;
  private static final int MULTI = 100;

  private final Connection connection;
  private final Table rows;
  private final Table pages;
  private final Table writes;
  private final ExecutorService pool = Executors.newFixedThreadPool(THREADS);
  private final Map<String, byte[][]> keys = new HashMap<>();

  private HBaseBench(String[] arguments) throws Exception {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set("hbase.zookeeper.quorum", arguments[0]);
    configuration.set("hbase.zookeeper.property.clientPort", arguments[1]);
    configuration.set("zookeeper.znode.parent", arguments[2]);
    connection = ConnectionFactory.createConnection(configuration);
    rows = connection.getTable(TableName.valueOf(arguments[3]));
    pages = connection.getTable(TableName.valueOf(arguments[4]));
    writes = connection.getTable(TableName.valueOf(arguments[5]));
  }

  public static void main(String[] arguments) throws Exception {
    HBaseBench bench = new HBaseBench(arguments);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    System.out.println(0);
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      System.out.println(bench.run(line.split(" ")));
    }
    System.exit(0); // the connection's threads would linger
  }

  private long run(String[] parts) throws Exception {
    byte[][] chosen = parts.length > 1 ? keys.get(parts[1]) : null;
    switch (parts[0]) {
      case "keys":
        keys.put(parts[1], parse(parts));
        return parts.length - 2;
      case "scan":
        return scan(rows, new Scan());
      case "scan_pages":
        return scan(pages, new Scan());
      case "scan_unread":
        return count(new Scan());
      case "scan_keys":
        return count(new Scan().setFilter(
            new FilterList(new FirstKeyOnlyFilter(), new KeyOnlyFilter())));
      case "prefix_scan":
        return prefixScan(chosen);
      case "put":
        return put(chosen);
      case "get":
        return get(chosen, 0, 1);
      case "get_threads":
        return getThreads(chosen);
      case "get_many":
        return getMany(chosen);
      case "increment":
        return increment(chosen);
      case "check_and_put":
        return checkAndPut(chosen);
      default:
        throw new IllegalArgumentException(parts[0]);
    }
  }

  /** Copies the parts of a cell that a program needs: qualifier, time, value. */
  private static int decode(Result result) {
    int found = 0;
    for (Cell cell : result.rawCells()) {
      byte[] qualifier = CellUtil.cloneQualifier(cell);
      byte[] value = CellUtil.cloneValue(cell);
      if (qualifier.length > 0 && value.length > 0 && cell.getTimestamp() > 0) {
        found++;
      }
    }
    return found;
  }

  private static long scan(Table table, Scan scan) throws Exception {
    long found = 0;
    try (ResultScanner results = table.getScanner(scan)) {
      for (Result result : results) {
        found += decode(result);
      }
    }
    return found;
  }

  private long count(Scan scan) throws Exception {
    long found = 0;
    try (ResultScanner results = rows.getScanner(scan)) {
      for (Result result : results) {
        found += result.isEmpty() ? 0 : 1;
      }
    }
    return found;
  }

  private long prefixScan(byte[][] prefixes) throws Exception {
    long found = 0;
    for (byte[] prefix : prefixes) {
      Scan scan = new Scan().setStartStopRowForPrefixScan(prefix).setCaching(100)
          .setReadType(Scan.ReadType.PREAD);
      try (ResultScanner results = rows.getScanner(scan)) {
        for (Result result : results) {
          found += decode(result) > 0 ? 1 : 0;
        }
      }
    }
    return found;
  }

  private long put(byte[][] chosen) throws Exception {
    try (BufferedMutator mutator = connection.getBufferedMutator(writes.getName())) {
      for (byte[] key : chosen) {
        Put put = new Put(key);
        for (byte[] qualifier : QUALIFIERS) {
          put.addColumn(FAMILY, qualifier, VALUE);
        }
        mutator.mutate(put);
      }
    }
    return chosen.length;
  }

  private long get(byte[][] chosen, int first, int step) throws Exception {
    long found = 0;
    for (int at = first; at < chosen.length; at += step) {
      found += decode(rows.get(new Get(chosen[at]))) > 0 ? 1 : 0;
    }
    return found;
  }

  private long getThreads(byte[][] chosen) throws Exception {
    List<Callable<Long>> parts = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      int first = thread;
      parts.add(() -> get(chosen, first, THREADS));
    }
    long found = 0;
    for (Future<Long> part : pool.invokeAll(parts)) {
      found += part.get();
    }
    return found;
  }

  private long getMany(byte[][] chosen) throws Exception {
    long found = 0;
    for (int at = 0; at < chosen.length; at += MULTI) {
      List<Get> gets = new ArrayList<>(MULTI);
      for (byte[] key : Arrays.copyOfRange(chosen, at, Math.min(at + MULTI, chosen.length))) {
        gets.add(new Get(key));
      }
      for (Result result : rows.get(gets)) {
        found += decode(result) > 0 ? 1 : 0;
      }
    }
    return found;
  }

  private long increment(byte[][] chosen) throws Exception {
    long done = 0;
    for (byte[] key : chosen) {
      done += writes.incrementColumnValue(key, FAMILY, COUNTER, 1) > 0 ? 1 : 0;
    }
    return done;
  }

  private long checkAndPut(byte[][] chosen) throws Exception {
    long done = 0;
    for (byte[] key : chosen) {
      CheckAndMutate step = CheckAndMutate.newBuilder(key).ifEquals(FAMILY, STATE, VALUE)
          .build(new Put(key).addColumn(FAMILY, STATE, VALUE));
      done += writes.checkAndMutate(step).isSuccess() ? 1 : 0;
    }
    return done;
  }

  private static byte[][] parse(String[] parts) {
    byte[][] parsed = new byte[parts.length - 2][];
    for (int at = 0; at < parsed.length; at++) {
      parsed[at] = bytes(parts[at + 2]);
    }
    return parsed;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
