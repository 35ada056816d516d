package gateway.engine;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.camunda.bpm.engine.ProcessEngine;
import org.camunda.bpm.engine.rest.security.auth.AuthenticationProvider;
import org.camunda.bpm.engine.rest.security.auth.AuthenticationResult;
import org.springframework.boot.json.JsonParserFactory;

/**
 * Takes the user from a header: --gateway.user-header=NAME. With --gateway.user-secret=BASE64 it is a JSON Web Token, signed with
 * HS256. Without the header the user is called nobody; CIB seven's PseudoAuthenticationProvider has none then.
 */
public class UserHeaderProvider implements AuthenticationProvider {

  static String header = "";
  static String secret = "";

  @Override
  public AuthenticationResult extractAuthenticatedUser(HttpServletRequest request, ProcessEngine engine) {
    var value = request.getHeader(header);
    if (value == null) return AuthenticationResult.successful("nobody");
    var user = secret.isEmpty() ? value : userOf(value.replaceFirst("^Bearer ", ""));
    return user == null ? AuthenticationResult.unsuccessful() : AuthenticationResult.successful(user);
  }

  private static String userOf(String token) {
    try {
      var parts = token.split("\\.");
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret), "HmacSHA256"));
      var expected = mac.doFinal((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
      if (!MessageDigest.isEqual(expected, Base64.getUrlDecoder().decode(parts[2]))) return null;
      var text = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8);
      var claims = JsonParserFactory.getJsonParser().parseMap(text);
      var ends = Instant.ofEpochSecond(((Number) claims.get("exp")).longValue());
      return Instant.now().isBefore(ends) ? (String) claims.get("sub") : null;
    } catch (Exception e) {
      return null;
    }
  }

  @Override
  public void augmentResponseByAuthenticationChallenge(HttpServletResponse response, ProcessEngine engine) {}
}
