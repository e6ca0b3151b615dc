import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Searches as HBase's RegexStringComparator does. A line has a pattern, whether to ignore case, and
 * texts; an answer has a digit for each text, or is "refused".
 */
public class FindRegex {
  public static void main(String[] args) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] parts = line.split(" ", -1);
      StringBuilder answer = new StringBuilder();
      try {
        int flags = Pattern.DOTALL | (parts[1].equals("1") ? Pattern.CASE_INSENSITIVE : 0);
        Pattern pattern = Pattern.compile(text(parts[0]), flags);
        for (int at = 2; at < parts.length; at++) {
          answer.append(pattern.matcher(text(parts[at])).find() ? '1' : '0');
        }
      } catch (PatternSyntaxException e) {
        answer = new StringBuilder("refused");
      }
      System.out.println(answer);
      System.out.flush();
    }
  }

  private static String text(String hex) {
    return new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8);
  }
}
