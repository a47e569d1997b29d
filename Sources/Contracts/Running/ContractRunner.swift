package import HTTPTypes
package import JSON

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Runs files of cases: sends their requests in order and compares the answers with the expected ones.
///
/// It knows neither sockets nor the server; ``Send`` does.
package struct ContractRunner: Sendable {
    package typealias Send = @Sendable (ContractRequest) async throws(ContractSendingProblem) -> ContractAnswer

    private let isPreparation: @Sendable (_ url: String) -> Bool
    private let leavesOutPreparations: Bool
    private let send: Send

    /// A runner.
    ///
    /// - Parameters:
    ///   - isPreparation: Whether a request to that URL prepares later ones and is not a case.
    ///   - leavesOutPreparations: Whether the server does not understand such requests; their captures must then be
    ///     among the variables.
    ///   - send: Sends a request.
    package init(
        isPreparation: @escaping @Sendable (_ url: String) -> Bool = { _ in false },
        leavesOutPreparations: Bool = false, send: @escaping Send
    ) {
        (self.isPreparation, self.leavesOutPreparations, self.send) = (isPreparation, leavesOutPreparations, send)
    }

    /// Runs a file up to its first failed case, since later cases may depend on it.
    package func run(_ file: HurlFile, variables: ContractVariables) async -> ContractResult {
        var variables = variables
        var hasFailed = false
        var cases: [ContractCase] = []
        for entry in file.entries {
            let isPreparation = isPreparation(variables.knownText(entry.request.url))
            let start = ContinuousClock.now
            let (outcome, status) =
                hasFailed ? (.notReached, nil) : await outcome(of: entry, isPreparation: isPreparation, &variables)
            if case .failed = outcome { hasFailed = true }
            cases.append(
                ContractCase(
                    place: entry.request.place, title: Self.title(entry.request), remark: entry.remark,
                    isPreparation: isPreparation, status: status, outcome: outcome, duration: .now - start))
        }
        return ContractResult(file: file.name, cases: cases)
    }

    /// Method and path, without the variable or server that starts the URL.
    private static func title(_ request: HurlRequest) -> String {
        let url = request.url.source
        let path =
            url.hasPrefix("http") ? url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...] : url[...]
        return "\(request.method.rawValue) \(path.firstIndex(of: "/").map { path[$0...] } ?? path)"
    }

    private func outcome(
        of entry: HurlEntry, isPreparation: Bool, _ variables: inout ContractVariables
    ) async -> (ContractCase.Outcome, status: Int?) {
        if isPreparation && leavesOutPreparations {
            for (name, place) in Self.given(by: entry) { variables.lose(name, at: place) }
            return (.leftOut, nil)
        }
        do throws(ContractFailure) {
            guard try prepare(entry.request, &variables) else { return (.skipped, nil) }
            let answer = try await answer(entry.request, variables)
            guard let response = entry.response else { return (.passed, answer.status) }
            var judge = ContractJudge(answer: answer, variables: variables)
            let failures = judge.failures(response)
            variables = judge.variables
            return (failures.isEmpty ? .passed : .failed(failures), answer.status)
        } catch {
            return (.failed([error]), nil)
        }
    }

    private static func given(by entry: HurlEntry) -> [(String, HurlPlace)] {
        let options = entry.request.options.compactMap { option -> (String, HurlPlace)? in
            if case .variable(let name, _, let place) = option { (name, place) } else { nil }
        }
        return options + (entry.response?.captures ?? []).map { ($0.name.source, $0.name.place) }
    }

    /// Applies the options; returns false when the request is skipped.
    private func prepare(_ request: HurlRequest, _ variables: inout ContractVariables) throws(ContractFailure) -> Bool {
        var isSkipped = false
        for option in request.options {
            switch option {
            case .skip(let value): isSkipped = value
            case .variable(let name, .constant(let value), _): variables[name] = value
            case .variable(let name, .text(let template), _): variables[name] = .string(try variables.text(template))
            }
        }
        return !isSkipped
    }

    private func answer(
        _ request: HurlRequest, _ variables: ContractVariables
    ) async throws(ContractFailure) -> ContractAnswer {
        let message = try ContractRequest(request, variables)
        do {
            return try await send(message)
        } catch {
            throw ContractFailure(place: request.url.place, message: "no answer from \(message.url): \(error)")
        }
    }
}

/// A case's request with its variables replaced.
package struct ContractRequest: Sendable, Hashable {
    package let method: HTTPRequest.Method
    package let url: String
    /// The fields, except those for framing, which the sender adds.
    package let fields: HTTPFields
    package let body: [UInt8]

    package init(method: HTTPRequest.Method, url: String, fields: HTTPFields = [:], body: [UInt8] = []) {
        (self.method, self.url, self.fields, self.body) = (method, url, fields, body)
    }
}

package struct ContractAnswer: Sendable {
    package let status: Int
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        (self.status, self.fields, self.body) = (status, fields, body)
    }

    /// The content as text; invalid UTF-8 is replaced.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The values of all lines with that name, case-insensitively.
    func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// Why a case's request has no answer, as a sentence.
package struct ContractSendingProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension ContractRequest {
    init(_ request: HurlRequest, _ variables: ContractVariables) throws(ContractFailure) {
        var url = try variables.text(request.url)
        if !request.query.isEmpty {
            url += (url.contains("?") ? "&" : "?") + (try Self.encoded(request.query, variables))
        }
        let (fields, body) = try Self.message(request, variables)
        self.init(method: request.method, url: url, fields: fields, body: body)
    }

    private static func message(
        _ request: HurlRequest, _ variables: ContractVariables
    ) throws(ContractFailure) -> (HTTPFields, [UInt8]) {
        var fields = HTTPFields()
        for pair in request.fields {
            guard let name = HTTPField.Name(try variables.text(pair.name)) else {
                throw ContractFailure(place: pair.name.place, message: "\(pair.name.source) is not a field name")
            }
            fields.append(HTTPField(name: name, value: try variables.text(pair.value)))
        }
        if !request.cookies.isEmpty {
            // Appended: set by name, each cookie would become a line of its own, which RFC 6265 section 5.4 forbids.
            let cookies = try variables.texts(request.cookies).map { "\($0)=\($1)" }
            fields.append(HTTPField(name: .cookie, value: cookies.joined(separator: "; ")))
        }
        if let credentials = request.credentials {
            let pair = "\(try variables.text(credentials.name)):\(try variables.text(credentials.value))"
            fields[.authorization] = "Basic " + Data(pair.utf8).base64EncodedString()
        }
        guard let body = request.body else {
            guard !request.form.isEmpty else { return (fields, []) }
            if fields[.contentType] == nil { fields[.contentType] = "application/x-www-form-urlencoded" }
            return (fields, Array(try encoded(request.form, variables).utf8))
        }
        if fields[.contentType] == nil, let type = body.contentType { fields[.contentType] = type }
        return (fields, try variables.bytes(body))
    }

    private static func encoded(_ pairs: [HurlPair], _ variables: ContractVariables) throws(ContractFailure) -> String {
        let items = try variables.texts(pairs).map { "\(percentEncoded($0))=\(percentEncoded($1))" }
        return items.joined(separator: "&")
    }

    /// Encodes everything except RFC 3986's unreserved characters.
    private static func percentEncoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            if byte.isLetter || byte.isDigit || "-._~".utf8.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += "%" + byte.digits(atLeast: 2, radix: 16).uppercased()
            }
        }
    }
}

package struct ContractVariables: Sendable, Hashable {
    private var values: [String: JSON]
    /// Variables that requests left out would have set, and where.
    private var lost: [String: HurlPlace] = [:]

    package init(_ values: [String: JSON] = [:]) { self.values = values }

    package subscript(name: String) -> JSON? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Records that the request which sets this variable was left out.
    mutating func lose(_ name: String, at place: HurlPlace) {
        if values[name] == nil { lost[name] = place }
    }

    func value(of variable: HurlVariable) throws(ContractFailure) -> JSON {
        if let value = values[variable.name] { return value }
        let why = lost[variable.name].map { ": the call in line \($0.line) that gives it one is left out" } ?? ""
        throw ContractFailure(
            place: variable.place,
            message: "the variable \(variable.name) has no value\(why); give it one with --variable \(variable.name)=… "
                + "or in the file of --variables-file")
    }

    func text(_ template: HurlTemplate) throws(ContractFailure) -> String {
        try template.text { (variable) throws(ContractFailure) in try text(of: variable) }
    }

    func texts(_ pairs: [HurlPair]) throws(ContractFailure) -> [(name: String, value: String)] {
        try pairs.map { (pair) throws(ContractFailure) in (try text(pair.name), try text(pair.value)) }
    }

    /// The text with its variables replaced; unset ones stay as written.
    func knownText(_ template: HurlTemplate) -> String {
        // Code that needs the value reports the problem.
        template.text { (try? text(of: $0)) ?? "{{\($0.name)}}" }
    }

    private func text(of variable: HurlVariable) throws(ContractFailure) -> String {
        switch try value(of: variable) {
        case .string(let text): return text
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let number): return number.literal
        case .array, .object:
            throw ContractFailure(
                place: variable.place, message: "the variable \(variable.name) is a collection, which is not text")
        }
    }

    func bytes(_ body: HurlBody) throws(ContractFailure) -> [UInt8] {
        switch body.content {
        case .bytes(let bytes): return bytes
        case .text(let template, _): return Array(try text(template).utf8)
        case .json(let parts):
            var bytes: [UInt8] = []
            for part in parts { bytes += try json(part) }
            return bytes
        }
    }

    private func json(_ part: HurlBody.JSONPart) throws(ContractFailure) -> [UInt8] {
        switch part {
        case .text(let text): return Array(text.utf8)
        case .inString(let variable):
            // The file has the quotes.
            return Array(JSON.string(try text(of: variable)).bytes.dropFirst().dropLast())
        case .value(let variable):
            let value = try value(of: variable)
            guard value.string == nil else {
                throw ContractFailure(
                    place: variable.place,
                    message: "the variable \(variable.name) is a string; in JSON, put it in quotes")
            }
            return value.bytes
        }
    }
}
