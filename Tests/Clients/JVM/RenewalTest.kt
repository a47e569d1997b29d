import okhttp3.OkHttpClient
import okhttp3.Request
import org.json.JSONObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class RenewalTest {
    private val server = System.getenv("UNDERSTUDY_URL")

    /** The app under test: it renews its token once when the backend says 401. */
    private class App(private val baseUrl: String, private var token: String) {
        private val client = OkHttpClient()

        fun readAddresses(): Int {
            val status = get("api/v1/partner/317/customer/entity123/addressbook").first
            if (status != 401) return status
            val (renewed, content) = get("v2/credentials/ping")
            if (renewed != 200) return renewed
            token = JSONObject(content).getString("accessToken").removePrefix("Bearer ")
            return get("api/v1/partner/317/customer/entity123/addressbook").first
        }

        private fun get(path: String): Pair<Int, String> {
            val request = Request.Builder().url("$baseUrl/$path")
                .header("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")
                .header("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a")
                .header("authorization", "Bearer $token").build()
            return client.newCall(request).execute().use { Pair(it.code(), it.body()!!.string()) }
        }
    }

    @Test
    fun theTokenIsRenewedOnce() {
        UnderstudySandbox(server).use { sandbox ->
            sandbox.control("PUT", "scenarios", JSONObject().put("scenario", "rezolve-token-expires-mid-session"))
            // Half used up: a token renewed in the second of its issue would be the same one.
            val app = App(sandbox.baseURL(), sandbox.mint("rezolve/login", mapOf("expires_in" to 900)))
            repeat(4) { assertEquals(200, app.readAddresses()) }
            sandbox.expectCalls(1, mapOf("failure" to "token-expired"))
        }
    }
}
