import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    static let sandbox = Self("X-Understudy-Sandbox") ?? .from
}

/// Which sandbox a request selects.
///
/// Path prefix `/~NAME/`, else header `X-Understudy-Sandbox`, else host `NAME.localhost`, else the standard one.
struct SandboxSelection {
    let name: String
    let selector: SandboxSelector
    /// The target without the prefix; `nil` when it has none.
    let target: String?

    /// What the head of a request selects; `nil` when it names no sandbox, which is the usual case and copies nothing.
    static func of(_ request: Request) throws(ControlProblem) -> SandboxSelection? {
        let prefix = request.targetBegins(with: "/~") ? prefixName(request.target) : nil
        let header = request.fields[.sandbox]
        let host = hostName(request.authority)
        guard let name = prefix ?? header ?? host else { return nil }
        let others = [header, host].compactMap { $0 }.filter { $0 != name }
        if let other = others.first {
            throw ControlProblem(
                .badRequest, "sandbox-conflict", "The request names the sandboxes \(name) and \(other).")
        }
        guard SandboxName.isValid(name) else { throw invalid(name) }
        guard let prefix else {
            return SandboxSelection(name: name, selector: SandboxSelector(header == nil ? .host : .field), target: nil)
        }
        let rest = request.target.dropFirst(2 + prefix.count)
        return SandboxSelection(
            name: name, selector: SandboxSelector(.path), target: rest.hasPrefix("/") ? String(rest) : "/" + rest)
    }

    /// The request without the prefix.
    func request(_ request: Request) -> Request {
        guard let target else { return request }
        var request = request
        request.target = target
        return request
    }

    static func invalid(_ name: String) -> ControlProblem {
        ControlProblem(
            .badRequest, "sandbox-name-invalid", "“\(name)” is not a sandbox name: 1 to 63 of a-z, 0-9 and hyphen.")
    }

    /// The name after the two characters of the prefix.
    private static func prefixName(_ target: String) -> String {
        String(target.dropFirst(2).prefix { $0 != "/" && $0 != "?" })
    }

    /// The label before `.localhost`; the port is ignored.
    private static func hostName(_ authority: String?) -> String? {
        guard let authority else { return nil }
        // Compared as bytes: nearly every host differs, and this runs for each request.
        let length = authority.utf8.withContiguousStorageIfAvailable(nameLength) ?? nameLength(Array(authority.utf8))
        return length.map { String(Substring(authority.utf8.prefix($0)).lowercased()) }
    }

    /// The length in bytes of the label before `.localhost`, if there is one.
    private static func nameLength(_ authority: some RandomAccessCollection<UInt8>) -> Int? {
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        let domain: StaticString = ".localhost"
        let length = host.count - domain.utf8CodeUnitCount
        guard length > 0 else { return nil }
        let isLocal = domain.withUTF8Buffer { host.dropFirst(length).elementsEqual($0) { $0 | 0x20 == $1 | 0x20 } }
        return isLocal ? length : nil
    }
}

extension Emulator {
    /// How a request names its sandbox; with the address that it was sent to, where the sandbox's base follows that and
    /// control calls would accept its host.
    ///
    /// - Parameter port: that of the vendors; `nil` for that of the request.
    func placed(
        _ selector: SandboxSelector, of request: Request, at port: Int? = nil, in sandbox: Sandbox
    ) -> SandboxSelector {
        guard sandbox.identity.publicBase.followsRequests, controlAccess.isOwn(request.authority ?? ""),
            let origin = request.origin(port: port), sandbox.isReached(at: origin)
        else { return selector }
        return SandboxSelector(selector.form, at: origin)
    }
}
