package import JSON
import Synchronization

/// Identifies a sandbox and the start of the program that it belongs to.
///
/// For vendors whose credentials belong to a sandbox, or that must recognize those of an earlier start.
public struct SandboxIdentity: Sendable, Hashable {
    public let name: String
    /// Eight hexadecimal digits, the same in all sandboxes of the emulator: drawn at startup, or derived from the
    /// startup seed so that values made from them repeat.
    public let start: String
    /// Whether the digits come from a seed, so that an earlier start may have had the same.
    public let isSeeded: Bool
    public let publicBase: PublicBase
    /// Whether the journal keeps all names that were asked for, of every request.
    let describesReading: Bool

    public init(
        name: String, start: String, isSeeded: Bool = false, publicBase: PublicBase = PublicBase(),
        describesReading: Bool = false
    ) {
        (self.describesReading, self.name, self.start) = (describesReading, name, start)
        (self.isSeeded, self.publicBase) = (isSeeded, publicBase)
    }

    /// Its addresses, one for each way in which clients name it.
    package var addresses: [String] { publicBase.addresses(of: name) }

    package static func drawStart(seed: UInt64?) -> String { String(IdentifierSource(seed: seed).uuid().prefix(8)) }
}

/// The name of a sandbox: 1 to 63 lowercase letters, digits and hyphens, so that it can also be a host label.
public enum SandboxName {
    public static let standard = "default"

    package static let pattern = "^[a-z0-9-]{1,63}$"

    public static func isValid(_ text: some StringProtocol) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLowercase || $0.isDigit || $0 == UInt8(ascii: "-") }
    }
}

public struct SandboxSelector: Sendable, Hashable {
    /// Not at all, so it is in the standard one; by the path prefix `/~NAME`; by the field `X-Understudy-Sandbox`; by
    /// the host `NAME.localhost`.
    package enum Form: Sendable, Hashable { case none, path, field, host }

    package let form: Form
    /// Scheme, host and port to which the request was sent; `nil` unless the sandbox's base follows that.
    package let origin: String?

    public static var none: Self { Self(.none) }

    package init(_ form: Form, at origin: String? = nil) { (self.form, self.origin) = (form, origin) }
}

/// The address under which clients reach this server, or a sandbox of it, for documents and tokens that name it.
///
/// It is configured, or the address of the first listener: what a token says must not depend on the `Host` of some
/// request, unless somebody sets ``fromHost``.
public final class PublicBase: Sendable {
    private struct Content {
        /// An address, ``fromHost``, or `nil` for what the server has.
        var setting: String?
        var listener = "http://localhost:8080"
        /// Where requests have reached the sandbox while the base follows them, the latest last: tokens that were
        /// issued at one of these are good at another.
        var origins: [String] = []
    }

    private let content: Mutex<Content>
    /// The server's base, for that of a sandbox.
    private let server: PublicBase?
    private let isFollowing: Atomic<Bool>

    /// Stands for the base in fixtures and requests, in whichever form a client selects its sandbox.
    package static let placeholder = "{base}"
    /// The setting with which the base is scheme, host and port of each request.
    package static let fromHost = "from-host"
    /// How many addresses of a sandbox are remembered. ours.
    private static let mostOrigins = 16

    /// Creates a base.
    ///
    /// - Parameters:
    ///   - setting: scheme, host and port without a slash at the end, such as `https://mocks.example.test`;
    ///     ``fromHost``; `nil` for the address of the first listener, or for the base of the server.
    ///   - server: the server's base, for that of a sandbox.
    public init(_ setting: String? = nil, of server: PublicBase? = nil) {
        content = Mutex(Content(setting: setting))
        isFollowing = Atomic(setting == Self.fromHost || server?.followsRequests == true)
        self.server = server
    }

    /// Whether a text can be a base: scheme, host, perhaps a port and a path, no slash at the end; or ``fromHost``.
    package static func isValid(_ text: String) -> Bool {
        if text == fromHost { return true }
        let match = text.wholeMatch(
            of: /https?:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?:\/[A-Za-z0-9._~-]+)*/)
        return match.map { $0.1.map { UInt16($0).map { $0 > 0 } ?? false } ?? true } ?? false
    }

    /// Scheme, host and port; with ``fromHost`` those for what no request causes.
    package var text: String {
        let (setting, listener) = content.withLock { ($0.setting, $0.listener) }
        if let setting, setting != Self.fromHost { return setting }
        return server?.text ?? listener
    }

    package var followsRequests: Bool { isFollowing.load(ordering: .relaxed) }

    /// Where requests have reached the sandbox, while the base follows them.
    var origins: [String] { content.withLock { $0.origins } }

    /// Notes where the server listens, which counts unless the base is set.
    package func listen(at base: String) { content.withLock { $0.listener = base } }

    /// Sets the base; `nil` for what the server has.
    func set(_ setting: String?, origins: [String] = []) {
        content.withLock { ($0.setting, $0.origins) = (setting, origins) }
        let isFollowing = setting == Self.fromHost || setting == nil && server?.followsRequests == true
        self.isFollowing.store(isFollowing, ordering: .relaxed)
    }

    /// Notes an address at which a request reached the sandbox; beyond the limit the oldest is forgotten.
    ///
    /// - Returns: whether it is new; `nil` if it can be none.
    func note(_ origin: String) -> Bool? {
        content.withLock { content in
            if content.origins.contains(origin) { return false }
            guard Self.isValid(origin) else { return nil }
            content.origins = content.origins.suffix(Self.mostOrigins - 1) + [origin]
            return true
        }
    }

    /// The base of a sandbox for clients that select it in this way.
    public func address(of sandbox: String, by selector: SandboxSelector) -> String {
        Self.address(of: sandbox, in: selector.form, at: selector.origin ?? text)
    }

    private static func address(of sandbox: String, in form: SandboxSelector.Form, at text: String) -> String {
        switch form {
        case .none, .field: text
        case .path: "\(text)/~\(sandbox)"
        case .host: host(of: sandbox, at: text)
        }
    }

    /// All bases of a sandbox, the plain one first.
    package func addresses(of sandbox: String) -> [String] {
        ([text] + origins).reduce(into: []) { addresses, base in
            for form in [.none, .path, .host] as [SandboxSelector.Form] {
                let address = Self.address(of: sandbox, in: form, at: base)
                if !addresses.contains(address) { addresses.append(address) }
            }
        }
    }

    /// An address of this server with ``placeholder`` in place of the base; `nil` for an address elsewhere.
    package func general(_ address: String, of sandbox: String) -> String? {
        // The longest base first: one of them is another with a path.
        let bases = addresses(of: sandbox).sorted { $0.utf8.count > $1.utf8.count }
        for base in bases where address.hasPrefix(base) {
            let rest = address.dropFirst(base.count)
            if rest.isEmpty || rest.hasPrefix("/") { return Self.placeholder + rest }
        }
        return nil
    }

    private static func host(of sandbox: String, at text: String) -> String {
        guard let start = text.firstRange(of: "://")?.upperBound else { return text }
        let authority = text[start...]
        // A colon inside brackets belongs to an IPv6 address.
        let behind = authority.lastIndex(of: "]") ?? authority.startIndex
        let port = authority[behind...].lastIndex(of: ":").map { authority[$0...] } ?? ""
        return "\(text[..<start])\(sandbox).localhost\(port)"
    }
}

extension PublicBase: Hashable {
    public static func == (left: PublicBase, right: PublicBase) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

package struct SandboxLimits: Sendable {
    /// The default maximum besides the standard one.
    package static let standardCapacity = 20_000

    package let capacity: Int
    /// How long a sandbox without a time to live of its own may stay unused before it is dropped; `nil` for as long as
    /// there is room.
    package let timeToLive: Duration?

    /// Creates limits with that capacity, at least 1, and that time to live.
    package init(capacity: Int = standardCapacity, timeToLive: Duration? = nil) {
        (self.capacity, self.timeToLive) = (max(1, capacity), timeToLive)
    }
}

/// Counts the sandboxes in memory: those that can be named, and removed ones still in use.
final class SandboxCensus: Sendable {
    private let sandboxes = Atomic(0)

    var count: Int { sandboxes.load(ordering: .relaxed) }

    func enter() { sandboxes.add(1, ordering: .relaxed) }
    func leave() { sandboxes.subtract(1, ordering: .relaxed) }
}

/// The source of a sandbox's ids, codes and other random values; repeatable when it has a seed.
public final class IdentifierSource: Sendable {
    /// The generator of a seed; without a seed, the system's is used.
    private let seeded: Mutex<SplitMix64?>
    private let changes: ChangeMark?

    /// - Parameter changes: set whenever the position changes, since calls that change no record draw ids too.
    package init(seed: UInt64? = nil, noting changes: ChangeMark? = nil) {
        seeded = Mutex(seed.map(SplitMix64.init(state:)))
        self.changes = changes
    }

    package func reseed(_ seed: UInt64?) { seeded.withLock { $0 = seed.map(SplitMix64.init(state:)) } }

    /// The position of a source with a seed, for ``resume(at:)``; `nil` without a seed.
    package var position: UInt64? { seeded.withLock { $0?.state } }

    /// Continues at the position of another source with the same seed.
    package func resume(at position: UInt64) { seeded.withLock { $0 = SplitMix64(state: position) } }

    /// The position among the ids of a seed; `nil` at the start, and without a seed.
    package func kept(seed: UInt64?) -> JSON? {
        guard let seed, let position, position != seed else { return nil }
        return ["seed": .string(String(seed)), "position": .string(String(position))]
    }

    /// Reads what ``kept(seed:)`` returns; `nil` when it belongs to another seed, which yields other ids.
    package static func position(_ node: FixtureNode, seed: UInt64?) throws(FixtureProblem) -> UInt64? {
        let entry = try node.mapping("seed", "position")
        let (own, position) = (try entry.required("seed"), try entry.required("position"))
        return try UInt64.read(own) == seed ? try UInt64.read(position) : nil
    }

    public func next() -> UInt64 {
        let drawn = seeded.withLock { seeded in
            defer { if seeded != nil { changes?.set() } }
            return seeded?.next()
        }
        if let drawn { return drawn }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// A version 4 UUID (RFC 9562 section 5.4) in lower case.
    public func uuid() -> String {
        let high = next() & ~0xF000 | 0x4000
        let low = next() & ~(0b11 << 62) | 0b10 << 62
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for digit in 0..<32 {
            if [8, 12, 16, 20].contains(digit) { text.append(UInt8(ascii: "-")) }
            let word = digit < 16 ? high : low
            let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (digit & 15)) & 0xF)
            text.append(nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Steele, Lea and Flood's generator: small, fast, and the same on every platform.
struct SplitMix64: RandomNumberGenerator, RecordValue {
    var state: UInt64

    var written: JSON { state.written }

    static func read(_ node: FixtureNode) throws(FixtureProblem) -> SplitMix64 {
        SplitMix64(state: try UInt64.read(node))
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
