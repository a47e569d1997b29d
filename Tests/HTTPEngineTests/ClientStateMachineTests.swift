import Testing

@testable import HTTPEngine

/// Client exchanges as values, without a socket.
@Suite struct ClientCourseTests {
    private func machine(_ url: String, _ request: String = "abc") throws -> ClientStateMachine {
        ClientStateMachine(try ClientTarget(url), request: Array(request.utf8), isHead: false, maximumBody: 10)
    }

    /// A short description of the step.
    private func step(_ machine: ClientStateMachine) -> String {
        switch machine.step {
        case .lookUp: "look up"
        case .connect(let address): "connect to \(address.host) \(address.port)"
        case .shakeHands: "shake hands"
        case .transfer: "transfer"
        case .end(.success(let response)): "answer \(String(decoding: response.body, as: UTF8.self))"
        case .end(.failure(let error)): "\(error)"
        }
    }

    private func receive(_ text: String, _ machine: inout ClientStateMachine) {
        Array(text.utf8).withUnsafeBytes { machine.received($0) }
    }

    @Test(arguments: [
        ("http://127.0.0.1", "connect to 127.0.0.1 80"), ("https://[::1]:8/", "connect to ::1 8"),
        ("http://10.1.2.3:4", "connect to 10.1.2.3 4"), ("http://localhost:81", "connect to ::1 81"),
        ("http://LocalHost", "connect to ::1 80"), ("http://a.b.LOCALHOST.:82", "connect to ::1 82"),
        ("http://localhost.", "connect to ::1 80"), ("http://localhost.test", "look up"),
        ("http://mylocalhost", "look up"), ("http://keys.example.test", "look up"),
    ])
    func `Addresses and names of this machine need no look-up`(url: String, expected: String) throws {
        #expect(step(try machine(url)) == expected)
    }

    @Test func `One address after the other is tried, and the last reason is told`() throws {
        var machine = try machine("http://localhost:81")
        machine.notConnected(because: "first")
        #expect(step(machine) == "connect to 127.0.0.1 81")
        machine.notConnected(because: "second")
        #expect(step(machine) == "localhost:81 cannot be reached: second.")
    }

    @Test func `A name leads to its addresses, or has none`() throws {
        var machine = try machine("http://a.test:5")
        machine.found(SocketAddress.literal("192.0.2.1", port: 5) + SocketAddress.literal("2001:db8::1", port: 5))
        #expect(step(machine) == "connect to 192.0.2.1 5")
        machine.notConnected(because: "first")
        #expect(step(machine) == "connect to 2001:db8::1 5")
        machine.connected()
        #expect(step(machine) == "transfer")
        var unknown = try self.machine("http://a.test:5")
        unknown.found([])
        #expect(step(unknown) == "a.test has no address.")
    }

    @Test func `Over TLS the server is known before anything is sent`() throws {
        var machine = try machine("https://127.0.0.1")
        machine.connected()
        #expect(step(machine) == "shake hands")
        machine.secured()
        #expect(step(machine) == "transfer")
    }

    @Test func `What is sent goes in pieces, and what comes in pieces is one answer`() throws {
        var machine = try machine("http://127.0.0.1")
        machine.connected()
        machine.sent(2)
        #expect(machine.withUnsent { Array($0) } == Array("c".utf8))
        receive("HTTP/1.1 200 OK\r\nContent-", &machine)
        #expect(step(machine) == "transfer")
        machine.sent(1)
        #expect(!machine.hasUnsent)
        #expect(machine.byteCount == 3 + 25)
        receive("Length: 2\r\n\r\nab", &machine)
        #expect(step(machine) == "answer ab")
    }

    @Test func `A server that takes nothing more may still answer, and its end ends the answer`() throws {
        var machine = try machine("http://127.0.0.1")
        machine.connected()
        machine.sendingEnded()
        #expect(!machine.hasUnsent)
        receive("HTTP/1.1 413 Content Too Large\r\n\r\nno", &machine)
        #expect(step(machine) == "transfer")
        machine.receivingEnded()
        #expect(step(machine) == "answer no")
    }

    @Test func `What is no answer, or too much of one, ends the exchange`() throws {
        var machine = try machine("http://127.0.0.1")
        machine.connected()
        var silent = machine
        silent.receivingEnded()
        #expect(step(silent) == "\(ClientError.connectionLost)")
        var large = machine
        receive("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", &large)
        #expect(step(large) == "\(ClientError.tooLarge)")
        receive("SSH-2.0\r\n", &machine)
        #expect(step(machine) == "\(ClientError.malformedAnswer)")
    }
}
