import Testing

@testable import HTTPEngine

/// The client's exchanges as values, without a socket.
@Suite struct ClientCourseTests {
    private func course(_ url: String, _ request: String = "abc") throws -> ClientCourse {
        ClientCourse(try ClientTarget(url), request: Array(request.utf8), isHead: false, maximumBody: 10)
    }

    /// The step in a word or two.
    private func step(_ course: ClientCourse) -> String {
        switch course.step {
        case .lookUp: "look up"
        case .connect(let address): "connect to \(address.host) \(address.port)"
        case .shakeHands: "shake hands"
        case .transfer: "transfer"
        case .end(.success(let response)): "answer \(String(decoding: response.body, as: UTF8.self))"
        case .end(.failure(let error)): "\(error)"
        }
    }

    private func receive(_ text: String, _ course: inout ClientCourse) {
        Array(text.utf8).withUnsafeBytes { course.received($0) }
    }

    @Test(arguments: [
        ("http://127.0.0.1", "connect to 127.0.0.1 80"), ("https://[::1]:8/", "connect to ::1 8"),
        ("http://10.1.2.3:4", "connect to 10.1.2.3 4"), ("http://localhost:81", "connect to ::1 81"),
        ("http://LocalHost", "connect to ::1 80"), ("http://a.b.LOCALHOST.:82", "connect to ::1 82"),
        ("http://localhost.", "connect to ::1 80"), ("http://localhost.test", "look up"),
        ("http://mylocalhost", "look up"), ("http://keys.example.test", "look up"),
    ])
    func `Addresses and names of this machine need no look-up`(url: String, expected: String) throws {
        #expect(step(try course(url)) == expected)
    }

    @Test func `One address after the other is tried, and the last reason is told`() throws {
        var course = try course("http://localhost:81")
        course.notConnected(because: "first")
        #expect(step(course) == "connect to 127.0.0.1 81")
        course.notConnected(because: "second")
        #expect(step(course) == "localhost:81 cannot be reached: second.")
    }

    @Test func `A name leads to its addresses, or has none`() throws {
        var course = try course("http://a.test:5")
        course.found(SocketAddress.literal("192.0.2.1", port: 5) + SocketAddress.literal("2001:db8::1", port: 5))
        #expect(step(course) == "connect to 192.0.2.1 5")
        course.notConnected(because: "first")
        #expect(step(course) == "connect to 2001:db8::1 5")
        course.connected()
        #expect(step(course) == "transfer")
        var unknown = try self.course("http://a.test:5")
        unknown.found([])
        #expect(step(unknown) == "a.test has no address.")
    }

    @Test func `Over TLS the server is known before anything is sent`() throws {
        var course = try course("https://127.0.0.1")
        course.connected()
        #expect(step(course) == "shake hands")
        course.secured()
        #expect(step(course) == "transfer")
    }

    @Test func `What is sent goes in pieces, and what comes in pieces is one answer`() throws {
        var course = try course("http://127.0.0.1")
        course.connected()
        course.sent(2)
        #expect(course.withUnsent { Array($0) } == Array("c".utf8))
        receive("HTTP/1.1 200 OK\r\nContent-", &course)
        #expect(step(course) == "transfer")
        course.sent(1)
        #expect(!course.hasUnsent)
        #expect(course.byteCount == 3 + 25)
        receive("Length: 2\r\n\r\nab", &course)
        #expect(step(course) == "answer ab")
    }

    @Test func `A server that takes nothing more may still answer, and its end ends the answer`() throws {
        var course = try course("http://127.0.0.1")
        course.connected()
        course.sendingEnded()
        #expect(!course.hasUnsent)
        receive("HTTP/1.1 413 Content Too Large\r\n\r\nno", &course)
        #expect(step(course) == "transfer")
        course.receivingEnded()
        #expect(step(course) == "answer no")
    }

    @Test func `What is no answer, or too much of one, ends the exchange`() throws {
        var course = try course("http://127.0.0.1")
        course.connected()
        var silent = course
        silent.receivingEnded()
        #expect(step(silent) == "\(ClientError.connectionLost)")
        var large = course
        receive("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", &large)
        #expect(step(large) == "\(ClientError.tooLarge)")
        receive("SSH-2.0\r\n", &course)
        #expect(step(course) == "\(ClientError.malformedAnswer)")
    }
}
