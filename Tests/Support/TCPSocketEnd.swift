import Dispatch
import Synchronization
import Wire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The client of a WebSocket on a TCP connection of this machine; one queue reads for all of them.
final class TCPSocketEnd: SocketEnd {
    private static let queue = DispatchQueue(label: "understudy.tests.sockets")

    private struct State {
        var received: [UInt8] = []
        /// The waiting caller of the handshake; `nil` once it is answered.
        var opening: CheckedContinuation<Head, any Error>?
        var hasClosed = false
        var source: Source?
    }

    private struct Head {
        let status: Int
        let fields: [(String, String)]
        let body: [UInt8]
    }

    private enum Problem: Error {
        case noConnection
    }

    /// A source may be used from any thread; the library does not declare its protocol so.
    private struct Source: @unchecked Sendable {
        let source: any DispatchSourceRead
    }

    private let descriptor: Int32
    private let inbox: SocketInbox
    private let state = Mutex(State())

    private init(port: Int, _ inbox: SocketInbox) throws {
        self.inbox = inbox
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard outcome == 0 else { throw Problem.noConnection }
    }

    /// Only now nobody can use the descriptor any more: closed at the end of the connection, its number could be that of
    /// another test's socket by the time a late frame is written.
    deinit {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    static func open(
        _ target: String, _ fields: World.Fields, at port: Int, of world: World
    ) async throws -> LiveSocket {
        let inbox = SocketInbox()
        let end = try TCPSocketEnd(port: port, inbox)
        let lines = (["GET \(target) HTTP/1.1", "Host: 127.0.0.1"] + fields.map { "\($0.0): \($0.1)" })
        let head = try await withCheckedThrowingContinuation { continuation in
            end.state.withLock { $0.opening = continuation }
            end.read()
            end.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        }
        guard head.status == 101 else {
            end.disconnect()
            throw world.refusal(head.status, head.fields, head.body)
        }
        return LiveSocket(inbox, end)
    }

    func send(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): write(Self.frame(0x81, Array(text.utf8)))
        case .binary(let bytes): write(Self.frame(0x82, bytes))
        }
    }

    func ping(_ payload: [UInt8]) { write(Self.frame(0x89, payload)) }

    func close(_ closure: WebSocketClosure) {
        guard
            state.withLock({ state in
                defer { state.hasClosed = true }
                return !state.hasClosed
            })
        else { return }
        let code = closure.code.rawValue
        write(Self.frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(closure.reason.utf8)))
    }

    /// A frame as clients send it, with a mask of zeros, so that the content stays unchanged.
    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var frame = [first]
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        switch payload.count {
        case ..<126: frame.append(0x80 | bytes[7])
        case ...0xFFFF: frame += [0xFE] + bytes.suffix(2)
        default: frame += [0xFF] + bytes
        }
        frame += [0, 0, 0, 0]
        return frame + payload
    }

    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.send($0, descriptor) }
            // The reader detects the end of the connection.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private static func send(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Int {
        #if canImport(Darwin)
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #else
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    private func disconnect() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    // MARK: - Receiving

    private func read() {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
        // The source keeps the end alive until the connection has ended.
        source.setEventHandler { self.readSome() }
        source.setCancelHandler { self.disconnect() }
        let held = Source(source: source)
        state.withLock { $0.source = held }
        source.activate()
    }

    private func readSome() {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return finish() }
        let opening = state.withLock { state -> (CheckedContinuation<Head, any Error>, Head)? in
            state.received += bytes.prefix(count)
            guard let opening = state.opening, let head = Self.takeHead(&state.received) else { return nil }
            state.opening = nil
            return (opening, head)
        }
        if let (opening, head) = opening { opening.resume(returning: head) }
        while let event = state.withLock({ $0.opening == nil ? Self.takeFrame(&$0.received) : nil }) {
            deal(with: event)
        }
    }

    private func finish() {
        let (source, opening) = state.withLock { state in
            defer { (state.source, state.opening) = (nil, nil) }
            return (state.source, state.opening)
        }
        inbox.add(.closed(WebSocketClosure(.abnormal)))
        opening?.resume(throwing: Problem.noConnection)
        source?.source.cancel()
    }

    private func deal(with frame: (opcode: UInt8, payload: [UInt8])) {
        switch frame.opcode {
        case 1: inbox.add(.text(String(decoding: frame.payload, as: UTF8.self)))
        case 2: inbox.add(.binary(frame.payload))
        case 8:
            let code = frame.payload.count < 2 ? 1005 : UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
            let closure = WebSocketClosure(
                .init(rawValue: code), reason: String(decoding: frame.payload.dropFirst(2), as: UTF8.self))
            inbox.add(.closed(closure))
            close(WebSocketClosure(closure.code))
        case 10: inbox.add(.pong(frame.payload))
        default: break
        }
    }

    /// Takes the answer to the handshake, with its content if it is a refusal.
    private static func takeHead(_ bytes: inout [UInt8]) -> Head? {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        let status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        let length = fields.first { $0.0.lowercased() == "content-length" }.flatMap { Int($0.1) } ?? 0
        guard bytes.count >= end + 4 + length else { return nil }
        defer { bytes.removeFirst(end + 4 + length) }
        return Head(status: status, fields: fields, body: Array(bytes[(end + 4)..<(end + 4 + length)]))
    }

    /// Takes a frame; servers send each message in one unmasked frame.
    private static func takeFrame(_ bytes: inout [UInt8]) -> (opcode: UInt8, payload: [UInt8])? {
        guard bytes.count >= 2 else { return nil }
        let extra = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0
        guard bytes.count >= 2 + extra else { return nil }
        let length = extra == 0 ? Int(bytes[1]) : bytes[2..<(2 + extra)].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= 2 + extra + length else { return nil }
        defer { bytes.removeFirst(2 + extra + length) }
        return (bytes[0] & 0x0F, Array(bytes[(2 + extra)..<(2 + extra + length)]))
    }
}
