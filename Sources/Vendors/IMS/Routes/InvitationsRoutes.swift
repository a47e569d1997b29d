import Emulation
import JSON

/// Invitations to others. Source: the SDK's calls are documented (site); the requests are ours, and no mail is sent.
extension IMS {
    static func sendInvitation(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        let number = state.invitations.nextNumber
        let invitation = try call.body {
            IMSInvitation(&$0, number: number, user: user.number, created: call.moment)
        }
        state.invitations.add(invitation)
        return .json(invitation.json, status: .created)
    }

    static func listInvitations(_ call: inout IMSCall, _ user: IMSUser, _ state: inout State) throws(Refused) -> Reply {
        .json(["invitations": .array(state.invitations.invitations(of: user.number).map(\.json))])
    }
}
