package import Emulation
import JSON
import Tokens
import Wire

/// Files of fixtures from calls that somebody recorded, without their secrets.
extension Explainer {
    /// The calls that no vendor answers as routes of the app's own backend: the text of a file in `own`.
    ///
    /// - Parameter omitted: receives what is not in it, and why.
    package func ownRoutes(
        of calls: [RecordedCall], omitted: inout [String]
    ) throws(RecordingProblem) -> String {
        var (names, endpoints, text): (Set<String>, Set<String>, String) = ([], [], "")
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
            text += "  \(name):\n    method: \(call.request.method.rawValue)\n    path: \(JSON.string(path).text)\n"
            if call.answer == nil { text += "    # The recording has no answer.\n" }
            text += "    respond: \(respond.prettyText.replacing("\n", with: "\n    "))\n"
        }
        try RecordingProblem.require(
            !text.isEmpty, "each of its calls is one of a vendor's routes; expected another call, or --contract")
        text = """
            # yaml-language-server: $schema=schemas/routes\(FixtureStore.schemaSuffix)
            # Recorded answers, their secrets masked: change what your app needs to find.
            routes:
            \(text)
            """
        var file = OwnRouteFile()
        do {
            try file.read(FixtureStore.File(path: "the file that it makes", bytes: Array(text.utf8)))
        } catch {
            throw RecordingProblem("\(error)")
        }
        return text
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
            let traits = VendorTraits(id: vendor.identity.id, secrets: vendor.secrets)
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
