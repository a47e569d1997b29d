package import JSON

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
        let message =
            if let place = lost[variable.name] {
                "the variable \(variable.name) has no value: the call in line \(place.line) that gives it one is left "
                    + "out; give it one with --variable \(variable.name)=… or in the file of --variables-file"
            } else {
                "the variable \(variable.name) has no value; give it one with --variable \(variable.name)=… or in the "
                    + "file of --variables-file"
            }
        throw ContractFailure(place: variable.place, message: message)
    }

    func text(_ template: HurlTemplate) throws(ContractFailure) -> String {
        var text = ""
        for part in template.parts {
            switch part {
            case .text(let piece): text += piece
            case .variable(let variable): text += try self.text(of: variable)
            }
        }
        return text
    }

    /// The text with its variables replaced; unset ones stay as written.
    func knownText(_ template: HurlTemplate) -> String {
        template.parts.reduce(into: "") { text, part in
            switch part {
            case .text(let piece): text += piece
            case .variable(let variable):
                // Code that needs the value reports the problem.
                text += (try? self.text(of: variable)) ?? "{{\(variable.name)}}"
            }
        }
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
