/** Header by which a caller on the local socket names the super admin that it acts as. Ignored on the network. */
export const ACT_AS_HEADER = "svc-act-as";
