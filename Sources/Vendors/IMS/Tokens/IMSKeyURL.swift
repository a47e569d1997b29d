import Emulation
import JSON

/// A URL at which an issuer publishes keys, parsed only far enough to decide whether to fetch from it.
///
/// Source: which URLs are allowed is ours. It accepts less than RFC 3986: anything that two parsers might read as two
/// different hosts (user names, backslashes, short and hexadecimal addresses) is rejected.
struct IMSKeyURL: Sendable, Hashable {
    /// Whether the URL points at this server, in the caller's sandbox.
    let isOwn: Bool
    /// Whether the connection is protected by TLS.
    let isSecure: Bool
    /// The host in lower case; an IPv6 address without its brackets.
    let host: String

    /// Parses a URL; `nil` if it is not acceptable.
    init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(where: { "\\#\"<>".utf8.contains($0) })
        else { return nil }
        if text.hasPrefix(KeyRequest.ownServer) {
            guard text.dropFirst(KeyRequest.ownServer.count).hasPrefix("/") else { return nil }
            (isOwn, isSecure, host) = (true, true, "")
            return
        }
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix),
            let host = Self.host(in: lower.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" })
        else { return nil }
        (isOwn, isSecure, self.host) = (false, scheme == "https://", host)
    }

    private static func host(in authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]"), isPort(authority[authority.index(after: end)...]) else {
                return nil
            }
            let address = authority[..<end].dropFirst()
            let isAddress = !address.isEmpty && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            return isAddress ? String(address) : nil
        }
        let host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, isPort(authority[host.endIndex...]), host.utf8.allSatisfy(isNameByte) else { return nil }
        return String(host)
    }

    /// Nothing, or a colon and a port.
    private static func isPort(_ text: Substring) -> Bool {
        if text.isEmpty { return true }
        let digits = text.dropFirst()
        return text.first == ":" && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
            && Int(digits).map { (1...65_535).contains($0) } == true
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether the host is this machine: `127.0.0.0/8`, `::1`, `localhost` and its subdomains.
    var isLoopback: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                // Some parsers read a leading zero as octal.
                guard let number = UInt8(part) else { return false }
                return String(number) == part
            }
    }

    /// Why keys are not fetched from there; `nil` when they may be.
    ///
    /// A host allowed without TLS is also allowed with it (ours), so that it need not be listed twice.
    ///
    /// - Parameter named: the hosts of key URLs in the fixtures.
    func obstacle(_ switches: IMSSwitches, named: Set<String>) -> String? {
        if isOwn || isLoopback { return nil }
        let isPlainAllowed = switches.allowedPlainHosts.contains(host)
        guard isPlainAllowed || named.contains(host) || switches.allowedHosts.contains(host) else {
            return
                "the host \(host) is neither this machine nor named in a fixture or in switch jwks-allow; expected one of them"
        }
        guard isSecure || isPlainAllowed else {
            return
                "http is for this machine and for hosts in switch jwks-allow-http; \(host) needs https; expected that"
        }
        return nil
    }
}
