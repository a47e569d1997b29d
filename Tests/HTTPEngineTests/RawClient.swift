@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A client on a blocking socket that sends exactly the given bytes and reads the answers.
///
/// Use it inside ``onThread(_:)``: the pool that runs tests must also run the answers that tests wait for.
struct RawClient: Sendable {
    private let socket: Socket
    // A test's threads take turns using the client.
    nonisolated(unsafe) private let session: TLSSession?
    private var descriptor: Int32 { socket.descriptor }

    /// Connects to a port of this machine.
    init(port: Int, over way: Way = .clear, receiveBuffer: Int32? = nil) throws {
        guard let address = SocketAddress.resolve(host: "127.0.0.1", port: port).first,
            let socket = Socket(family: address.family)
        else { throw RawClientError.noSocket }
        self.socket = socket
        session = way == .clear ? nil : TLSSession(socket, trust: try TestAuthority.trust(), host: "localhost")
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // No test waits that long, even on a busy machine; a hanging test cannot block a build.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else { throw RawClientError.refused }
    }

    /// Sends all of the text.
    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all of the bytes.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes(session?.write ?? socket.write) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: throw RawClientError.silent
            case .ended, .broken: throw RawClientError.broken
            }
        }
    }

    /// Ends the client's direction; answers can still be read.
    func finishSending() {
        if session?.finishWriting() == nil { socket.shutdownWriting() }
    }

    /// Reads until the text ends with `end`.
    func read(until end: String) throws -> String {
        var text = ""
        while !text.utf8.reversed().starts(with: end.utf8.reversed()) {
            guard let part = try readSome(1) else { throw RawClientError.ended(text) }
            text += part
        }
        return text
    }

    /// Reads one answer: its head and the announced amount of content.
    func readAnswer() throws -> String {
        let head = try read(until: "\r\n\r\n")
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        var rest = length.flatMap { Int($0.dropFirst(16)) } ?? 0
        var text = head
        while rest > 0 {
            guard let part = try readSome(rest) else { throw RawClientError.ended(text) }
            rest -= part.utf8.count
            text += part
        }
        return text
    }

    /// Reads until the server ends the connection.
    func readToEnd() throws -> String {
        var text = ""
        while let part = try readSome(65_536) { text += part }
        return text
    }

    /// Reads exactly this many bytes.
    func readBytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let part = try readSomeBytes(count - bytes.count) else { throw RawClientError.ended("\(bytes)") }
            bytes += part
        }
        return bytes
    }

    /// Reads until the server ends the connection.
    func readBytesToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try readSomeBytes(65_536) { bytes += part }
        return bytes
    }

    /// Waits until the server has cut off the connection, and counts the bytes that had arrived by then.
    ///
    /// It reads nothing before that, so that the server cannot send more.
    func countAfterCutOff() throws -> Int {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        guard poll(&entry, 1, 120_000) > 0 else { throw RawClientError.noSocket }
        var count = 0
        while let part = try? readSome(65_536) { count += part.utf8.count }
        return count
    }

    /// Closes so that the server sees a broken connection, as when a client crashes.
    func reset() {
        session?.discardUnsent()
        socket.discardUnsent()
        close()
    }

    func close() { session?.close() ?? socket.close() }

    /// `nil` at the end of the connection. Tests that read text send only ASCII, so no character is split.
    private func readSome(_ count: Int) throws -> String? {
        try readSomeBytes(count).map { String(decoding: $0, as: UTF8.self) }
    }

    private func readSomeBytes(_ count: Int) throws -> ArraySlice<UInt8>? {
        var bytes = [UInt8](repeating: 0, count: count)
        switch bytes.withUnsafeMutableBytes(session?.read ?? socket.read) {
        case .moved(let count): return bytes.prefix(count)
        case .ended: return nil
        case .wouldBlock: throw RawClientError.silent
        case .broken: throw RawClientError.broken
        }
    }
}

enum RawClientError: Error, Equatable {
    case noSocket
    case refused
    case broken
    /// The server neither sent nor took anything within the limit.
    case silent
    case ended(String)
}

/// Runs blocking work on a separate thread.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let isRunning = OperatingSystem.startThread {
            continuation.resume(with: Swift.Result { try work() })
        }
        if !isRunning { continuation.resume(throwing: RawClientError.noSocket) }
    }
}
