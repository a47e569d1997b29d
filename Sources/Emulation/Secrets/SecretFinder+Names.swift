import JSON

extension SecretFinder {
    /// Adds the values after secret names in text that cannot be parsed: queries anywhere, forms, parts of multipart
    /// content, fragments of JSON.
    func findNamedValues(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        findItems(in: bytes, &found)
        findParts(in: bytes, &found)
        findValues(in: bytes, &found) { SecretName.isSecret(String(decoding: $0, as: UTF8.self)) }
    }

    private func findItems(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        var index = 0
        while let mark = bytes[index...].place(of: UInt8(ascii: "=")) {
            index = mark + 1
            let before = bytes[max(0, mark - 64)..<mark]
            let name = before.suffix(from: before.lastIndex { !$0.isBase64URL }.map { $0 + 1 } ?? before.startIndex)
            guard SecretName.isSecret(String(decoding: name, as: UTF8.self)) else { continue }
            let end = bytes[index...].firstIndex(where: Self.endsItem) ?? bytes.count
            add(index..<end, in: bytes, &found)
            index = end
        }
    }

    private static func endsItem(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "#"),
            UInt8(ascii: "\\"):
            true
        default: byte.isBlank
        }
    }

    func findValues(
        in bytes: [UInt8], _ found: inout [Range<Int>], where isSecret: (ArraySlice<UInt8>) -> Bool
    ) {
        var index = 0
        while let open = bytes[index...].place(of: UInt8(ascii: "\"")) {
            guard let close = bytes[(open + 1)...].place(of: UInt8(ascii: "\"")) else { return }
            index = close
            let rest = bytes[(close + 1)...].drop(while: \.isBlank)
            guard rest.first == UInt8(ascii: ":") else { continue }
            index = close + 1
            guard close - open <= 65, isSecret(bytes[(open + 1)..<close]) else { continue }
            let value = rest.dropFirst().drop(while: \.isBlank)
            let place = Self.value(at: value.startIndex, in: bytes)
            add(place, in: bytes, &found)
            index = place.upperBound
        }
    }

    /// The string that begins there, without its quotes, or any other value.
    private static func value(at start: Int, in bytes: [UInt8]) -> Range<Int> {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else {
            let ends: Set<UInt8> = [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")]
            return start..<(bytes[start...].firstIndex { ends.contains($0) || $0.isBlank } ?? bytes.count)
        }
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return (start + 1)..<min(index, bytes.count)
    }

    private static let partName = Array("name=\"".utf8)
    private static let emptyLine = Array("\r\n\r\n".utf8)
    private static let boundary = Array("\r\n--".utf8)

    /// The content of a part whose `Content-Disposition` has a secret name. RFC 7578 section 4.2.
    private func findParts(in bytes: [UInt8], _ found: inout [Range<Int>]) {
        var index = 0
        while let place = bytes[index...].place(of: Self.partName) {
            index = place + Self.partName.count
            guard let close = bytes[index...].place(of: UInt8(ascii: "\"")) else { return }
            let name = bytes[index..<close]
            index = close
            guard name.count <= 64, SecretName.isSecret(String(decoding: name, as: UTF8.self)) else { continue }
            guard let head = bytes[close...].place(of: Self.emptyLine) else { return }
            let start = head + Self.emptyLine.count
            let end = bytes[start...].place(of: Self.boundary) ?? bytes.count
            add(start..<end, in: bytes, &found)
            index = end
        }
    }

    /// Adds a value, unless it is public or only says whether there is one.
    private func add(_ place: Range<Int>, in bytes: [UInt8], _ found: inout [Range<Int>]) {
        let text = String(decoding: bytes[place], as: UTF8.self)
        if ["null", "true", "false"].contains(text) || published.contains(text) { return }
        // A token's claims may be read; its signature is found by its form.
        if Mask.value(.string(text)) == .string(Redactor.hidden) { found.append(place) }
    }
}
