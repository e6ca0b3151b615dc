import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;

/** Reads filter texts, one a line in hex, with HBase's own parser; answers with their messages. */
public class ParseFilters {
  public static void main(String[] args) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String answer;
      try {
        byte[] text = HexFormat.of().parseHex(line);
        byte[] message =
            ProtobufUtil.toFilter(new ParseFilter().parseFilterString(text)).toByteArray();
        answer = HexFormat.of().formatHex(message);
      } catch (Exception e) {
        answer = "refused";
      }
      System.out.println(answer);
      System.out.flush();
    }
  }
}
