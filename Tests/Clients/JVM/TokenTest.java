import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.junit.jupiter.api.Test;

class TokenTest {
    private static final String SERVER = System.getenv("UNDERSTUDY_URL");

    /** The app under test; yours has a setting for its backend's base URL. */
    private static int readAddresses(String baseURL, String token) throws IOException {
        Request request = new Request.Builder().url(baseURL + "/api/v1/partner/317/customer/entity123/addressbook")
            .header("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")
            .header("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a")
            .header("authorization", "Bearer " + token).build();
        try (Response response = new OkHttpClient().newCall(request).execute()) {
            return response.code();
        }
    }

    @Test
    void aTokenExpiresAfterHalfAnHour() throws Exception {
        try (UnderstudySandbox sandbox = new UnderstudySandbox(SERVER)) {
            String token = sandbox.mint("rezolve/login", Map.of("expires_in", 1800));
            assertEquals(200, readAddresses(sandbox.baseURL(), token));
            sandbox.advance("31m");
            assertEquals(401, readAddresses(sandbox.baseURL(), token));
            sandbox.expectCalls(1, Map.of("route", "addressbook.list", "failure", "token-expired"));
        }
    }

    @Test
    void anExpectationThatDoesNotHoldSaysWhichCallsWereNear() throws Exception {
        try (UnderstudySandbox sandbox = new UnderstudySandbox(SERVER)) {
            readAddresses(sandbox.baseURL(), "no token");
            AssertionError unmet = assertThrows(
                AssertionError.class, () -> sandbox.expectCalls(1, Map.of("failure", "token-expired")));
            assertTrue(unmet.getMessage().startsWith("{"), unmet.getMessage());
            assertTrue(unmet.getMessage().contains("masked-signature"), unmet.getMessage());
        }
    }

    @Test
    void aCallThatTheServerRefusesNamesTheRefusal() throws Exception {
        try (UnderstudySandbox sandbox = new UnderstudySandbox(SERVER)) {
            AssertionError refused = assertThrows(AssertionError.class, () -> sandbox.mint("rezolve/nobody", Map.of()));
            assertTrue(refused.getMessage().contains("404"), refused.getMessage());
        }
    }

    @Test
    void aRedirectIsNotFollowed() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String address = "http://127.0.0.1:" + other.getAddress().getPort();
        other.createContext("/", exchange -> {
            asked.incrementAndGet();
            exchange.getResponseHeaders().set("Location", address + "/elsewhere");
            exchange.sendResponseHeaders(303, -1);
            exchange.close();
        });
        other.start();
        AssertionError refused = assertThrows(AssertionError.class, () -> new UnderstudySandbox(address));
        other.stop(0);
        assertTrue(refused.getMessage().endsWith(" was answered 303: a redirect to " + address + "/elsewhere"), refused.getMessage());
        assertEquals(1, asked.get());
    }
}
