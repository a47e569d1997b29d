package import Emulation
import HTTPTypes
import JSON
import Tokens
package import Wire

/// Why a recorded call cannot be read: what was found, and where.
package struct RecordingProblem: StatedRefusal {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A call that went to a real server, as somebody recorded it: an entry of a HAR, a curl command, or HTTP as text.
package struct RecordedCall: Sendable {
    package struct Answer: Sendable {
        package var status: Int
        package var fields: [(name: String, value: String)] = []
        /// `nil` if it is unknown.
        package var body: [UInt8]?

        package init(status: Int, fields: [(name: String, value: String)] = [], body: [UInt8]? = nil) {
            (self.status, self.fields, self.body) = (status, fields, body)
        }

        func field(_ name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
    }

    /// Where it was found, such as “entry 3”; `nil` for the only one.
    package var place: String?
    package let request: Request
    /// Scheme and host, such as `https://api.example.com`.
    package let origin: String
    package var answer: Answer?
    /// When it was sent; `nil` if the recording does not say.
    package var moment: Moment?

    /// The longest recording that is read, in bytes (ours): reading one takes several times as much memory.
    package static let longest = 64 << 20

    /// Reads a recording: a HAR begins with a brace, a curl command with its name, anything else is HTTP as text.
    package static func all(in bytes: [UInt8]) throws(RecordingProblem) -> [RecordedCall] {
        try RecordingProblem.require(
            bytes.count <= longest,
            "it has \(bytes.count >> 20) MB; expected at most \(longest >> 20): export fewer calls")
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let start = text.drop { $0 <= 0x20 }
        try RecordingProblem.require(
            !start.isEmpty, "it is empty; expected a HAR, a curl command, or a request as text")
        if start.first == UInt8(ascii: "{") { return try HARReading.calls(in: start) }
        let words = try RecordingProblem.require(
            String(validating: start, as: UTF8.self),
            "it is not text in UTF-8; expected a HAR, a curl command, or a request as text")
        return [words.hasPrefix("curl") ? try CurlReading.call(in: words) : try TextReading.call(in: words)]
    }

    /// A call of a URL.
    ///
    /// - Parameter place: what the URL belongs to, for the problem with it.
    init(
        _ method: String, _ url: String, _ fields: [(String, String)], body: [UInt8], at place: String
    ) throws(RecordingProblem) {
        let scheme = url.firstRange(of: "://")
        let rest = scheme.map { url[$0.upperBound...] } ?? url[...]
        let end = rest.firstIndex { "/?#".utf8.contains($0.utf8.first ?? 0) } ?? rest.endIndex
        let target = rest[end...].prefix { $0 != "#" }
        try RecordingProblem.require(
            end != rest.startIndex, "\(place): the URL \(url.prefix(200).debugDescription) names no host")
        let method = try RecordingProblem.require(
            HTTPRequest.Method(method), "\(place): \(method.prefix(40).debugDescription) is not a method")
        origin = "\(scheme.map { url[..<$0.lowerBound].lowercased() } ?? "https")://\(rest[..<end])"
        // HTTP/2 has the request line in fields.
        let own = fields.filter { !$0.0.hasPrefix(":") && HTTPField.Name($0.0) != nil }
        request = Request(
            method: method, target: target.hasPrefix("/") ? String(target) : "/" + target,
            authority: String(rest[..<end]), fields: FieldLines(own), body: body)
    }
}

/// Reads HTTP Archives as browsers, proxies and this program write them.
private enum HARReading {
    static func calls(in bytes: ArraySlice<UInt8>) throws(RecordingProblem) -> [RecordedCall] {
        let value: JSON
        do {
            value = try JSON.parse(bytes)
        } catch {
            throw RecordingProblem("it is not JSON: \(error)")
        }
        let entries = try RecordingProblem.require(
            value["log"]?["entries"]?.array, "it has no log.entries; expected a HAR (HTTP Archive 1.2)")
        try RecordingProblem.require(!entries.isEmpty, "log.entries is empty; expected a call")
        var calls: [RecordedCall] = []
        for (index, entry) in entries.enumerated() {
            var call = try call(entry, at: "log.entries[\(index)]")
            if entries.count > 1 { call.place = "entry \(index + 1)" }
            calls.append(call)
        }
        return calls
    }

    private static func call(_ entry: JSON, at place: String) throws(RecordingProblem) -> RecordedCall {
        guard let request = entry["request"], let method = request["method"]?.string, let url = request["url"]?.string
        else { throw RecordingProblem("\(place).request has no method or no url") }
        var fields = pairs(request["headers"])
        let cookies = pairs(request["cookies"]).map { "\($0.0)=\($0.1)" }
        if !cookies.isEmpty, !fields.contains(where: { $0.0.lowercased() == "cookie" }) {
            fields.append(("cookie", cookies.joined(separator: "; ")))
        }
        let data = request["postData"]
        let form = PercentEncoding.form(pairs(data?["params"]).map { (name: $0.0, value: $0.1) })
        let body = try content(data, at: "\(place).request.postData")
        var call = try RecordedCall(
            method, url, fields, body: body?.isEmpty == false ? body ?? [] : Array(form.utf8),
            at: "\(place).request")
        call.moment = entry["startedDateTime"].flatMap { Moment($0) }
        // 0 stands for an answer that never came.
        if let answer = entry["response"], let status = answer["status"]?.int, status > 0 {
            call.answer = RecordedCall.Answer(
                status: status, fields: pairs(answer["headers"]),
                body: try content(answer["content"], at: "\(place).response.content"))
        }
        return call
    }

    /// Names and values: a list of objects, or the one object that some tools write.
    private static func pairs(_ value: JSON?) -> [(String, String)] {
        if let object = value?.object { return object.map { ($0.name, $0.value.string ?? $0.value.text) } }
        return (value?.array ?? []).compactMap { pair in
            pair["name"]?.string.map { ($0, pair["value"].map { $0.string ?? $0.text } ?? "") }
        }
    }

    private static func content(_ content: JSON?, at place: String) throws(RecordingProblem) -> [UInt8]? {
        guard let text = content?["text"]?.string else { return nil }
        guard content?["encoding"] == "base64" else { return Array(text.utf8) }
        return try RecordingProblem.require(
            Base64URL.decodeLeniently(Array(text.utf8)), "\(place).text is not base64, as its encoding says")
    }
}

/// Reads a request as it is on the wire, with its answer behind it if there is one.
private enum TextReading {
    static func call(in text: String) throws(RecordingProblem) -> RecordedCall {
        // CR LF is one character.
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        let words = lines[0].split(separator: " ")
        guard words.count > 1, HTTPRequest.Method(String(words[0])) != nil,
            words[1].hasPrefix("/") || words[1].hasPrefix("http")
        else {
            throw RecordingProblem(
                "line 1 begins neither a HAR, nor a curl command, nor a request such as “GET /path HTTP/1.1”")
        }
        let end = lines.dropFirst().firstIndex { $0.hasPrefix("HTTP/") } ?? lines.endIndex
        let (fields, body) = try message(lines[1..<end], from: 2)
        let host = fields.first { $0.0.lowercased() == "host" }?.1 ?? ""
        var call = try RecordedCall(
            String(words[0]), words[1].hasPrefix("/") ? "https://\(host)\(words[1])" : String(words[1]), fields,
            body: body, at: "line 1, with Host")
        guard end < lines.endIndex else { return call }
        let status = try RecordingProblem.require(
            lines[end].split(separator: " ").dropFirst().first.flatMap({ Int($0) }),
            "line \(end + 1) has no status; expected a line such as “HTTP/1.1 403 Forbidden”")
        let answer = try message(lines[(end + 1)...], from: end + 2)
        call.answer = RecordedCall.Answer(status: status, fields: answer.fields, body: answer.body)
        return call
    }

    private static func message(
        _ lines: ArraySlice<Substring>, from number: Int
    ) throws(RecordingProblem) -> (fields: [(String, String)], body: [UInt8]) {
        let blank = lines.firstIndex { $0.isEmpty } ?? lines.endIndex
        var fields: [(String, String)] = []
        for (offset, line) in lines[..<blank].enumerated() {
            fields.append(
                try RecordingProblem.require(
                    RecordedCall.field(line), "line \(number + offset) is not a field: found no “NAME: VALUE”"))
        }
        var body = Array(lines[min(blank + 1, lines.endIndex)...].joined(separator: "\n").utf8)
        // The last line of a file, and the blank one before an answer.
        while body.last == UInt8(ascii: "\n") { body.removeLast() }
        return (fields, body)
    }
}

extension RecordedCall {
    /// Reads `NAME: VALUE`; `nil` without a colon.
    package static func field(_ line: Substring) -> (String, String)? {
        guard let colon = line.dropFirst().firstIndex(of: ":"), !line.isEmpty else { return nil }
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let value = line[line.index(after: colon)...].drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { value.index(after: $0) } ?? value.startIndex
        return (String(line[..<colon]), String(value[..<end]))
    }
}

/// Files of fixtures from calls that somebody recorded, without their secrets.
extension Explainer {
    /// The calls that no vendor answers as routes of the app's own backend: the text of a file in `own`.
    ///
    /// - Parameter omitted: receives what is not in it, and why.
    package func ownRoutes(of calls: [RecordedCall], omitted: inout [String]) throws(RecordingProblem) -> String {
        var (file, text, problem): (OwnRouteFile, String, String?) = (OwnRouteFile(), "", nil)
        var (names, endpoints) = (Set(emulator.vendors.flatMap { $0.routes.map(\.id) }), Set<String>())
        for call in calls {
            var (words, path, respond) = recorded(call)
            let line = "\(call.request.method.rawValue) \(path)"
            if case .route(let vendor, _, _) = emulator.routes.ownMatch(call.request.method, call.request.path) {
                omitted.append("\(line): it is one of \(emulator.vendors[vendor].identity.id)")
                continue
            }
            // The first answer counts; another one is a matter for a scenario.
            guard endpoints.insert(line).inserted else {
                omitted.append("\(line): it has an answer already")
                continue
            }
            let isText = String(validating: call.answer?.body ?? [], as: UTF8.self) != nil
            if !isText || respond["body"]?.text.firstRange(of: "{{") != nil {
                omitted.append(
                    "the content of \(line): it \(isText ? "has {{, which begins a template" : "is no text")")
                var rest = respond.object ?? [:]
                rest["body"] = nil
                respond = .object(rest)
            }
            var name = (words + [call.request.method.rawValue.lowercased()]).joined(separator: ".")
            while !names.insert(name).inserted { name += "-also" }
            var route = "  \(name):\n    method: \(call.request.method.rawValue)\n    path: \(JSON.string(path).text)\n"
            if call.answer == nil { route += "    # The recording has no answer.\n" }
            route += "    respond: \(respond.prettyText.replacing("\n", with: "\n    "))\n"
            do {
                try file.read(FixtureStore.File(path: line, bytes: Array("routes:\n\(route)".utf8)))
                text += route
            } catch {
                problem = "\(line): \(error.message)"
                omitted += [problem].compactMap(\.self)
            }
        }
        try RecordingProblem.require(
            !text.isEmpty,
            problem ?? "each of its calls is one of a vendor's routes; expected another call, or --contract")
        return """
            # yaml-language-server: $schema=schemas/routes\(FixtureStore.schemaSuffix)
            # Recorded answers, their secrets masked: change what your app needs to find.
            routes:
            \(text)
            """
    }

    /// The words of a call's path, its pattern, and the answer.
    private func recorded(_ call: RecordedCall) -> (words: [String], path: String, respond: JSON) {
        let bytes = call.answer?.body ?? []
        // What is no JSON has no members of these names, and would be hidden as a whole.
        let secrets = (try? JSON.parse(bytes)) == nil ? [] : emulator.inForce.loaded.memberSecrets
        let redactor = emulator.sandboxes.standard.redactor
        let masked = MaskedExchange(
            JournalEntry(
                sandbox: sandbox, moment: Moment(unixSeconds: 0), request: call.request,
                response: Response(status: .ok, body: bytes), record: ExchangeRecord(VendorTraits(secrets: secrets))),
            by: redactor)
        let segments = masked.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        let path = segments.indices.map { Self.isWord(segments[$0]) ? "/\(segments[$0])" : "/{part\($0 + 1)}" }
        var respond: JSONObject = ["status": JSON(call.answer?.status ?? 200)]
        // ours: what an app may act on; the rest is the connection's, or holds secrets.
        let fields = ["content-type", "location", "cache-control", "etag", "link", "retry-after"].compactMap { name in
            call.answer?.field(name).map { (name, JSON.string(redactor.text($0))) }
        }
        if !fields.isEmpty { respond["headers"] = .object(JSONObject(fields)) }
        if !bytes.isEmpty { respond["body"] = masked.responseBody }
        return (segments.filter { Self.isWord($0) && !$0.isEmpty }.map(String.init), path.joined(), .object(respond))
    }

    /// Whether a segment of a path is a word, and no number, id or secret.
    private static func isWord(_ segment: Substring) -> Bool {
        let digits = segment.count(where: \.isNumber)
        let isPlain = segment.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        return isPlain && segment.first != "." && (digits == 0 || digits < segment.count && segment.count < 16)
    }

    /// The calls of vendors as contract cases with the answers that were recorded; their tokens are minted.
    package func contractCases(of calls: [RecordedCall], at now: Moment) throws(RecordingProblem) -> String {
        var entries: [JournalEntry] = []
        for call in calls {
            guard let (found, match) = self.route(of: call), case .route(let index, let route, _) = match else {
                continue
            }
            var request = found
            request.fields = FieldLines(
                request.fields.map { ($0.name, $0.value) }.filter { $0.0.lowercased() != "cookie" })
            let vendor = emulator.vendors[index]
            let traits = VendorTraits(vendor.identity, secrets: vendor.secrets)
            var entry = JournalEntry(
                sandbox: sandbox, moment: call.moment ?? now, request: request,
                response: Response(status: .init(code: call.answer?.status ?? 0), body: call.answer?.body ?? []),
                record: ExchangeRecord(traits, route: vendor.routes[route].id))
            entry.id = entries.count + 1
            entries.append(entry)
        }
        try RecordingProblem.require(
            !entries.isEmpty, "none of its calls is one of a vendor's routes; without --contract it makes own routes")
        let text = HurlExport(entries, emulator, emulator.sandboxes.standard, from: calls[0].origin).text
        // Of several calls, a comment says it.
        if entries.count == 1, let omitted = text.firstRange(of: "# left out: ") {
            let why = text[omitted.upperBound...].prefix { $0 != "\n" }
            throw RecordingProblem("no contract case can be made of \(why)")
        }
        return text
    }
}
