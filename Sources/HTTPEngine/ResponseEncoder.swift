import HTTPTypes
import Wire

/// Encodes responses, head and content in one buffer (RFC 9112 section 6).
///
/// Only the engine frames messages: it replaces `Content-Length`, `Transfer-Encoding` and `Connection`, and keeps
/// `Date`. Values cannot split a response, since an `HTTPField` holds no CR, LF or NUL.
struct ResponseEncoder {
    /// What affects the encoding besides the response.
    struct Framing {
        /// Whether to omit the content, because the request was a HEAD.
        var isHead = false
        var version = Request.Version.http1_1
        var persists = true
        /// Whether the request had `Connection: keep-alive`.
        var asksToPersist = false
    }

    /// How long a connection may stay idle, for clients that ask; `nil` if too short to tell.
    private let keepAliveLine: [UInt8]?
    private var second = -1
    private var dateLine: [UInt8] = []

    init(idle: Duration = Limits().idle) {
        // A second less, so that clients let go before the server does: a request that crosses the end is lost.
        let seconds = idle.components.seconds - 1
        keepAliveLine = seconds > 0 ? Array("Connection: keep-alive\r\nKeep-Alive: timeout=\(seconds)\r\n".utf8) : nil
    }

    mutating func setDate(unixTime: Int) {
        guard unixTime != second else { return }
        second = unixTime
        dateLine = Self.dateLine(unixTime)
    }

    private static func dateLine(_ unixTime: Int) -> [UInt8] {
        Array("Date: \(HTTPDate.text(unixTime: unixTime))\r\n".utf8)
    }

    /// Appends the response to `output`; returns whether the connection persists.
    func encode(_ response: Response, for exchange: Framing, into output: inout [UInt8]) -> Bool {
        // After a handler's interim status no client could continue, unless it opens a WebSocket.
        let opens = response.upgrade != nil
        var persists = opens || exchange.persists && response.status.code >= 200
        var isDated = false
        var hasUpgrade = false
        // Only for the first answer: reserving for each would move the buffer each time.
        if output.isEmpty { output.reserveCapacity(512 + response.body.count) }
        output.appendStatusLine(response.status)
        for field in response.fields {
            switch Self.role(of: field.name) {
            case .framing: continue
            case .connection:
                if !opens, field.value.lowercased() == "close" { persists = false }
                continue
            case .upgrade: hasUpgrade = true
            case .date: isDated = true
            case .other: break
            }
            output.append(field)
        }
        if !isDated { output.append(contentsOf: response.date.map(Self.dateLine) ?? dateLine) }
        appendConnection(persists, hasUpgrade, exchange, &output)
        Self.appendContent(of: response, exchange, &output)
        return persists
    }

    /// Appends the engine's own answer, which has no content unless the client may try again.
    func encode(_ refusal: RequestRejection, into output: inout [UInt8]) {
        var response = Response(status: refusal.status)
        if refusal == .overfull {
            response = .text("\(refusal.reason)\n", status: refusal.status)
            response.fields[.retryAfter] = "1"
        }
        _ = encode(response, for: Framing(persists: false), into: &output)
    }

    /// Appends the interim answer that invites the content (RFC 9110 section 15.2.1).
    static func encodeContinue(into output: inout [UInt8]) { output.append("HTTP/1.1 100 Continue\r\n\r\n") }

    private enum Role {
        case framing
        case connection
        case date
        case upgrade
        case other
    }

    /// By length first, since nearly all names are others.
    private static func role(of name: HTTPField.Name) -> Role {
        switch name.canonicalName.utf8.count {
        case 4 where name.canonicalName == "date": .date
        case 7 where name.canonicalName == "upgrade": .upgrade
        case 10 where name.canonicalName == "connection": .connection
        case 14 where name.canonicalName == "content-length": .framing
        case 17 where name.canonicalName == "transfer-encoding": .framing
        default: .other
        }
    }

    /// RFC 9110 section 7.8: `Upgrade` applies to this connection only, and `Connection` must say so.
    private func appendConnection(_ persists: Bool, _ hasUpgrade: Bool, _ exchange: Framing, _ output: inout [UInt8]) {
        if hasUpgrade { output.append("Connection: upgrade\r\n") }
        if !persists {
            output.append("Connection: close\r\n")
        } else if exchange.asksToPersist, !hasUpgrade, let keepAliveLine {
            output.append(contentsOf: keepAliveLine)
        } else if exchange.version == .http1_0 {
            output.append("Connection: keep-alive\r\n")
        }
    }

    /// Whether the content follows the head.
    static func sendsContent(_ response: Response, _ exchange: Framing) -> Bool {
        length(of: response) ?? 0 > 0 && !exchange.isHead
    }

    /// The `Content-Length` of the response; `nil` for none.
    ///
    /// RFC 9110 sections 6.4.1 and 8.6: 1xx, 204 and 304 have neither content nor length; section 15.3.6: 205 has no
    /// content.
    private static func length(of response: Response) -> Int? {
        switch response.status.code {
        case ..<200, 204, 304: nil
        case 205: 0
        default: response.body.count
        }
    }

    private static func appendContent(of response: Response, _ exchange: Framing, _ output: inout [UInt8]) {
        if let length = length(of: response) {
            output.append("Content-Length: ")
            output.appendDecimal(length)
            output.append("\r\n\r\n")
        } else {
            output.append("\r\n")
        }
        if sendsContent(response, exchange) { output.append(contentsOf: response.body) }
    }
}

extension [UInt8] {
    fileprivate mutating func appendStatusLine(_ status: HTTPResponse.Status) {
        append("HTTP/1.1 ")
        if status.code < 100 { append(status.code < 10 ? "00" : "0") }
        appendDecimal(status.code)
        append(.space)
        append(contentsOf: status.reasonPhrase.utf8)
        append("\r\n")
    }

    fileprivate mutating func append(_ field: HTTPField) {
        append(contentsOf: field.name.rawName.utf8)
        append(": ")
        field.withUnsafeBytesOfValue { append(contentsOf: $0) }
        append("\r\n")
    }

    /// Appends a literal without making a string.
    fileprivate mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }

    /// Appends a non-negative number without making a string.
    fileprivate mutating func appendDecimal(_ number: Int) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(truncatingIfNeeded: number / divisor % 10) + 0x30)
            divisor /= 10
        }
    }
}

/// The date format of RFC 9110 section 5.6.7, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Formats a time in seconds since 1970, which must not be negative.
    static func text(unixTime: Int) -> String {
        let (day, second) = unixTime.quotientAndRemainder(dividingBy: 86_400)
        let date = civilDate(day: day)
        let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(days[day % 7]), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(time) GMT"
    }

    /// The Gregorian date `day` days after 1970-01-01.
    ///
    /// Years start in March, so that a leap day comes last, and are grouped into eras of 400 years.
    private static func civilDate(day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
