import Support
import Testing

extension ReceivedAnswer {
    /// Expects a refusal of the control API with this code and this text in its message.
    func expectProblem(
        _ status: Int, _ code: String, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
        #expect(json["error"]?["code"]?.string == code, sourceLocation: sourceLocation)
        #expect(
            json["error"]?["message"]?.string?.contains(message) == true, "\(text)", sourceLocation: sourceLocation)
    }
}
