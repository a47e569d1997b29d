internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
            fields.append(HTTPField(name: .cookie, value: try cookies(request.cookies, variables)))
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

    private static func cookies(
        _ pairs: [HurlPair], _ variables: ContractVariables
    ) throws(ContractFailure) -> String {
        var cookies: [String] = []
        for pair in pairs { cookies.append("\(try variables.text(pair.name))=\(try variables.text(pair.value))") }
        return cookies.joined(separator: "; ")
    }

    /// Pairs encoded as in a query or form.
    private static func encoded(
        _ pairs: [HurlPair], _ variables: ContractVariables
    ) throws(ContractFailure) -> String {
        var items: [String] = []
        for pair in pairs {
            items.append(
                percentEncoded(try variables.text(pair.name)) + "=" + percentEncoded(try variables.text(pair.value)))
        }
        return items.joined(separator: "&")
    }

    /// Encodes everything except RFC 3986's unreserved characters.
    private static func percentEncoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
