import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import javax.xml.parsers.SAXParser;
import org.camunda.bpm.engine.impl.util.xml.Parse;
import org.camunda.bpm.engine.impl.util.xml.Parser;
import org.xml.sax.Attributes;
import org.xml.sax.helpers.DefaultHandler;

/**
 * Parses documents with the XML parser of the engine, which the engine's own class configures as for a process. Reads one document in
 * each line, in Base64. Writes one line of JSON for each: the problem or null, and the elements and texts in their order.
 */
class EngineParser extends Parser {
  public static void main(String[] args) throws Exception {
    EngineParser parser = new EngineParser();
    parser.enableSchemaValidation(true);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
    for (String line = in.readLine(); line != null; line = in.readLine())
      out.println(parser.read(Base64.getDecoder().decode(line)));
  }

  @Override
  public Parse createParse() {
    throw new UnsupportedOperationException();
  }

  private String read(byte[] document) {
    Events events = new Events();
    String problem = "null";
    try {
      SAXParser parser = getSaxParser();
      parser.parse(new ByteArrayInputStream(document), events);
    } catch (Exception error) {
      problem = quoted(String.valueOf(error.getMessage()));
    }
    return "{\"problem\":" + problem + ",\"events\":[" + events.json + "]}";
  }

  /** Writes the events. Errors of the schema, which are not fatal, are ignored. */
  private static class Events extends DefaultHandler {
    final StringBuilder json = new StringBuilder();

    @Override
    public void startElement(String uri, String localName, String qName, Attributes attributes) {
      StringBuilder members = new StringBuilder();
      StringBuilder uris = new StringBuilder(quoted(uri));
      for (int at = 0; at < attributes.getLength(); at++) {
        if (at > 0) members.append(',');
        members.append('[').append(quoted(attributes.getQName(at))).append(',');
        members.append(quoted(attributes.getValue(at))).append(']');
        uris.append(',').append(quoted(attributes.getURI(at)));
      }
      add("{\"open\":" + quoted(localName) + ",\"attributes\":[" + members + "],\"uris\":[" + uris + "]}");
    }

    @Override
    public void characters(char[] chars, int start, int length) {
      add("{\"text\":" + quoted(new String(chars, start, length)) + "}");
    }

    @Override
    public void endElement(String uri, String localName, String qName) {
      add("{}");
    }

    private void add(String event) {
      if (json.length() > 0) json.append(',');
      json.append(event);
    }
  }

  private static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (char one : text.toCharArray()) {
      boolean isPlain = one >= ' ' && one <= '~' && one != '"' && one != '\\';
      json.append(isPlain ? String.valueOf(one) : String.format("\\u%04x", (int) one));
    }
    return json.append('"').toString();
  }
}
