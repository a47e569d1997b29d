import Emulation
import JSON
import Wire

/// Exchanges as HTTP Archive 1.2, which browser tools, Charles and Proxyman can open.
///
/// It is made from what the journal shows, so it contains no secrets either.
enum HARExport {
    static func json(of entries: [JSON]) -> JSON {
        [
            "log": [
                "version": "1.2", "creator": ["name": "Understudy", "version": .string(Emulator.version)],
                "entries": .array(entries.map(exchange)),
            ]
        ]
    }

    /// No durations are measured: they are 0 rather than -1, since the total must be a sum.
    private static func exchange(_ entry: JSON) -> JSON {
        let comment =
            ["route", "failure", "reason"].compactMap { entry[$0]?.string }
            + [InterventionText.line(entry["intervention"])].compactMap(\.self)
        return [
            "startedDateTime": entry["at"] ?? .null, "time": 0,
            "request": request(entry["request"] ?? [:]), "response": response(entry["response"] ?? [:]), "cache": [:],
            "timings": ["send": 0, "wait": 0, "receive": 0], "comment": .string(comment.joined(separator: ": ")),
        ]
    }

    private static func request(_ request: JSON) -> JSON {
        let target = request["target"]?.string ?? ""
        let query = target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let (text, lack) = content(of: request)
        var json: JSONObject = [
            "method": request["method"] ?? .null,
            "url": .string("http://\(field("host", of: request) ?? "127.0.0.1")\(target)"),
            "httpVersion": "HTTP/1.1",
            "cookies": [], "headers": headers(of: request),
            "queryString": .array(query.split(separator: "&").map(parameter)), "headersSize": -1,
            "bodySize": JSON(text?.utf8.count ?? 0),
        ]
        if let text {
            var data: JSONObject = [
                "mimeType": .string(field("content-type", of: request) ?? ""), "text": .string(text),
            ]
            data["comment"] = lack.map(JSON.string)
            json["postData"] = .object(data)
        }
        return .object(json)
    }

    /// A request's content as text, `nil` when there is none; and, in words, why the text differs from what was sent.
    /// The journal shows a JSON string, a text, and a placeholder for either in the same form; the length that the
    /// client declared distinguishes them. If neither length fits, it is a JSON string that is partly masked or spelled
    /// differently.
    private static func content(of request: JSON) -> (text: String?, lack: String?) {
        guard let body = request["body"], let shown = body.string else { return (text(request["body"]), nil) }
        let length = field("content-length", of: request).flatMap { Int($0) }
        if let lack = MaskedExchange.lack(shownAs: shown, length: length) { return ("", lack) }
        return (length == shown.utf8.count ? shown : body.text, nil)
    }

    private static func parameter(_ text: Substring) -> JSON {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
            JSON.string(String(PercentEncoding.decode($0) ?? $0))
        }
        return ["name": parts[0], "value": parts.count > 1 ? parts[1] : ""]
    }

    private static func response(_ response: JSON) -> JSON {
        let text = text(response["body"]) ?? ""
        return [
            "status": response["status"] ?? .null, "statusText": "", "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": headers(of: response),
            "content": [
                "size": JSON(text.utf8.count), "mimeType": .string(field("content-type", of: response) ?? ""),
                "text": .string(text),
            ],
            "redirectURL": .string(field("location", of: response) ?? ""), "headersSize": -1,
            "bodySize": JSON(text.utf8.count),
        ]
    }

    private static func headers(of message: JSON) -> JSON {
        .array((message["headers"]?.array ?? []).map { ["name": $0[0] ?? .null, "value": $0[1] ?? .null] })
    }

    private static func field(_ name: String, of message: JSON) -> String? {
        message["headers"]?.array?.first { $0[0]?.string?.lowercased() == name }?[1]?.string
    }

    /// Content as text; `nil` when there is none.
    private static func text(_ body: JSON?) -> String? {
        guard let body, !body.isNull else { return nil }
        return body.string ?? body.text
    }
}
