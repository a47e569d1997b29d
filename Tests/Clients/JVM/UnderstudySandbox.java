import java.io.IOException;
import java.util.Map;
import java.util.UUID;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.json.JSONException;
import org.json.JSONObject;

/** A test's own environment on a server: its own users, clock, faults and journal. Deleted when the test closes it. */
public final class UnderstudySandbox implements AutoCloseable {
    private static final MediaType JSON = MediaType.get("application/json");

    // A redirect leads away from the server.
    private final OkHttpClient client = new OkHttpClient.Builder().followRedirects(false).build();
    private final String server;
    private final String name = "jvm-" + UUID.randomUUID();

    /** Makes a sandbox on a server such as http://127.0.0.1:8080; one that nobody closes goes after ten idle minutes. */
    public UnderstudySandbox(String server) throws IOException, JSONException {
        this.server = server;
        send("PUT", server + "/_understudy/sandboxes/" + name, new JSONObject().put("ttl", "10m"));
    }

    /** Where the app finds all its backends. */
    public String baseURL() {
        return server + "/~" + name;
    }

    /** A token of a vendor's kind, such as rezolve/login. */
    public String mint(String kind, Map<String, ?> order) throws IOException, JSONException {
        return control("POST", "tokens/" + kind, new JSONObject(order)).getString("token");
    }

    /** Moves the clock; tokens issued earlier age by as much. */
    public void advance(String duration) throws IOException, JSONException {
        control("PUT", "clock", new JSONObject().put("advance", duration));
    }

    /** Fails unless exactly this many calls were of that kind; the message lists the nearest calls and what each missed. */
    public void expectCalls(int count, Map<String, ?> where) throws IOException, JSONException {
        JSONObject order = new JSONObject().put("exactly", count).put("where", new JSONObject(where));
        JSONObject verdict = control("POST", "journal/verify", order);
        if (!verdict.getBoolean("verified")) throw new AssertionError(verdict.toString(2));
    }

    /** Any operation of the control API, for this sandbox. */
    public JSONObject control(String method, String call, JSONObject content) throws IOException, JSONException {
        return send(method, baseURL() + "/_understudy/" + call, content);
    }

    @Override
    public void close() throws IOException, JSONException {
        send("DELETE", server + "/_understudy/sandboxes/" + name, null);
    }

    private JSONObject send(String method, String url, JSONObject content) throws IOException, JSONException {
        RequestBody body = content == null ? null : RequestBody.create(JSON, content.toString());
        try (Response response = client.newCall(new Request.Builder().url(url).method(method, body).build()).execute()) {
            String answer = response.body().string();
            // An expectation that does not hold is answered 409, with the reason.
            if (!response.isSuccessful() && response.code() != 409) {
                String target = response.isRedirect() ? "a redirect to " + response.header("Location") : answer;
                throw new AssertionError(method + " " + url + " was answered " + response.code() + ": " + target);
            }
            return answer.isEmpty() ? new JSONObject() : new JSONObject(answer);
        }
    }
}
