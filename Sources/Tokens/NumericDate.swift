public import JSON

/// What a claim that should hold Unix seconds holds: the form in which it was written, and whether its size is that of
/// a moment.
///
/// RFC 7519 section 2 allows a fraction and nothing but seconds; clients send milliseconds and strings all the same, and
/// servers differ in what they take.
public struct NumericDate: Sendable, Hashable {
    /// How the value was written.
    public enum Form: String, Sendable, Hashable {
        /// There is no such claim.
        case absent
        /// Digits only, perhaps with a sign.
        case integer
        /// With a decimal point, also when only zeros follow it.
        case fraction
        /// With an exponent.
        case exponent
        /// A string that holds a number.
        case numericString = "numeric-string"
        /// Any other type or text.
        case otherType = "other-type"
    }

    /// Whether the size is that of a moment in seconds.
    public enum Size: String, Sendable, Hashable {
        /// From 0 up to 99,999,999,999, the year 5138.
        case usual
        /// From 100,000,000,000 on: milliseconds, most probably.
        case milliseconds
        /// Below 0.
        case negative
        /// Not finite, or beyond 2^53, where binary numbers lose whole seconds.
        case excessive
    }

    /// How the value was written.
    public let form: Form
    /// Whether its size is that of a moment; `usual` where there is no number.
    public let size: Size
    /// The number, also where it was written as a string; infinite for texts such as `1e400`.
    public let value: Double?

    /// Classifies a claim's value; `nil` is an absent claim.
    public init(_ claim: JSON?) {
        guard let claim else {
            self.init(form: .absent, value: nil)
            return
        }
        if let number = claim.number {
            // The usual claim is an integer that is read once; beyond 15 digits the nearest binary value is asked for.
            if number.literal.utf8.count <= 15, let int = number.int {
                self.init(form: .integer, value: Double(int))
            } else {
                self.init(form: Self.form(of: number), value: Self.value(of: number))
            }
        } else if let string = claim.string, case .number(let number)? = try? JSON.parse(string.utf8) {
            // A string that is no number needs no reason why.
            self.init(form: .numericString, value: Self.value(of: number))
        } else {
            self.init(form: .otherType, value: nil)
        }
    }

    private init(form: Form, value: Double?) {
        self.form = form
        self.value = value
        size = Self.size(of: value ?? 0)
    }

    /// Whether the claim is a JSON number, whatever its form and size.
    public var isNumber: Bool { form == .integer || form == .fraction || form == .exponent }

    /// What to say of a number, or a text of one, where an RFC 3339 text belongs; `nil` for everything else.
    public var dateRemark: String? {
        guard let value, size != .excessive else { return nil }
        let (unit, seconds) =
            size == .milliseconds
            ? ("looks like Unix milliseconds", value / 1000) : ("is a number of Unix seconds", value)
        return "\(unit); expected an RFC 3339 text, which would be \(UnixTime.text(of: seconds))"
    }

    /// The claim in seconds when it is a JSON number of a possible size (below 2^53, not infinite).
    ///
    /// - Parameter readsMilliseconds: Whether a value of that size is divided by 1000.
    public func seconds(readsMilliseconds: Bool = false) -> Double? {
        guard isNumber, size != .excessive, let value else { return nil }
        return readsMilliseconds && size == .milliseconds ? value / 1000 : value
    }

    /// The nearest binary value; one that only rounding makes 2^53 moves beyond it, since 2^53 + 1 has no value of its own.
    private static func value(of number: JSONNumber) -> Double {
        let value = number.double
        guard value.magnitude == largest, !number.isEquivalent(to: JSONNumber(value)) else { return value }
        return value < 0 ? value.nextDown : value.nextUp
    }

    /// 2^53, up to which a binary number holds every whole second.
    private static let largest = 9_007_199_254_740_992.0

    private static func form(of number: JSONNumber) -> Form {
        if number.isInteger { return .integer }
        return number.literal.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") } ? .exponent : .fraction
    }

    private static func size(of value: Double) -> Size {
        if !value.isFinite || value.magnitude > largest { return .excessive }
        if value < 0 { return .negative }
        return value >= 100_000_000_000 ? .milliseconds : .usual
    }
}
